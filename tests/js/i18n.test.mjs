import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import { inTurn, namer, plain, told, translator, versioned } from "../../static/js/i18n/words.js";
import { words } from "./helpers.mjs";

const en = words("en");
const zh = words("zh-Hans");

test("Chinese sentences end as Chinese sentences do", () => {
  for (const [key, text] of Object.entries(zh))
    assert.doesNotMatch(text, /[\u4e00-\u9fff][.,!?](\s|$)/, key);
});

test("every key a script names exists", () => {
  const root = new URL("../../static/js/", import.meta.url);
  const files = readdirSync(root, { recursive: true }).filter(
    (f) => f.endsWith(".js") && !/batch|charts/.test(f),
  );
  for (const file of files) {
    const text = readFileSync(new URL(file, root), "utf8");
    for (const [, key] of text.matchAll(/\bt(?:\.value)?\("([\w.]+)"/g))
      assert.ok(key in en, `${file}: ${key}`);
  }
});

test("an unknown key shows itself", () => {
  assert.equal(translator(en)("no.such.key"), "no.such.key");
});

test("a told sentence names its entities and begins with a capital", () => {
  const t = translator(en);
  const env = {
    t,
    name: namer(t, [
      { id: 1, name: "A" },
      { id: 2, name: "B" },
    ]),
  };
  const catalogue = { "fetch.ask": "{f} asks leader {l} for records from offset {o}." };
  const entry = { key: "fetch.ask", args: { f: { b: 2 }, l: { b: 1 }, o: { o: 49 } } };
  assert.equal(
    plain(catalogue, entry, env),
    "Broker B asks leader broker A for records from offset 49.",
  );
  assert.deepEqual(
    told(catalogue, entry, env)
      .filter((part) => part.ref)
      .map((part) => part.ref),
    ["b2", "b1", "o49"],
  );
});

test("a list names its entities one by one", () => {
  const env = { t: translator(en), name: namer(translator(en), []) };
  const catalogue = { ack: "{b} acknowledges {m} of {w}, ISR {i}." };
  const entry = {
    key: "ack",
    args: { b: { b: 1 }, m: { ms: ["m3", "m4", "m5"] }, w: { bl: [2, 3] }, i: { bs: [1, 2] } },
  };
  assert.equal(
    plain(catalogue, entry, env),
    "Broker 1 acknowledges m3, m4 and m5 of broker 2 and broker 3, ISR [1, 2].",
  );
  assert.deepEqual(
    told(catalogue, entry, env)
      .filter((part) => part.ref)
      .map((part) => part.ref),
    ["b1", "rec:m3", "rec:m4", "rec:m5", "b2", "b3"],
  );
});

test("sentences follow each other as their language writes them", () => {
  assert.equal(inTurn(["It ends. It", "goes on!"]), "It ends. It goes on!");
  assert.equal(inTurn(["到此为止。 然后", "继续；"]), "到此为止。然后 继续；");
  assert.equal(inTurn(["一。", "二！", "B"]), "一。二！B");
});

test("a sentence begins with a capital, but no partition is renamed by it", () => {
  const t = translator(en);
  const words = { grows: "{who} has {n} records" };
  const say = (who) =>
    plain(words, { key: "grows", args: { who, n: 4 } }, { t, name: namer(t, []) });
  assert.equal(say("t-0"), "t-0 has 4 records");
  assert.equal(say("it"), "It has 4 records");
});

test("what somebody wrote names versions of Kafka in words", () => {
  const t = translator({ "kafka.Z24": "Kafka 2.4.1" });
  assert.equal(
    versioned(t, "Z24 keeps it, K77 and DZ24 do not."),
    "Kafka 2.4.1 keeps it, K77 and DZ24 do not.",
  );
});

test("nodes are called by what they are", () => {
  const name = namer(translator(en), [{ id: 3, name: "3" }]);
  assert.deepEqual(
    [name(3), name(3, true), name("K"), name(-1, true), name(-11), name("P1"), name(-32)],
    ["broker 3", "3", "the controller", "K", "producer 1", "producer 1", "consumer 2"],
  );
});

test("no sentence of the engine hides a word of the page", () => {
  const story = new URL("../../engine/words/story.en.json", import.meta.url);
  for (const key of Object.keys(JSON.parse(readFileSync(story, "utf8"))))
    assert.ok(!(key in en), key);
});
