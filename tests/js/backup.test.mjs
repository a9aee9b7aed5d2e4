// What is taken to another browser as one file: all of it or nothing, and nothing here is lost.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const box = new Map();
let room = Infinity;
globalThis.localStorage = {
  getItem: (key) => box.get(key) ?? null,
  setItem: (key, text) => {
    if (text.length > room) throw new Error("full");
    box.set(key, text);
  },
  removeItem: (key) => box.delete(key),
};
globalThis.dispatchEvent = () => true;
globalThis.CustomEvent = class {};
const answers = await import("../../static/js/learn/store/answers.js");
const carried = await import("../../static/js/learn/store/backup_file.js");

const card = { href: "/learn?n=1", text: "?", stability: 2, difficulty: 5, due: 9, last: 1 };
const CARDS = { Q1: { ...card, reps: 1, lapses: 0 } };
const LOST = { probe: "hw@6.0.3", right: false, ids: ["MC-HW-ALL"], sure: 3, href: "/learn?n=1" };

beforeEach(() => {
  box.clear();
  room = Infinity;
});

function somebody() {
  box.set(
    "highwater.memory",
    JSON.stringify({ what: "highwater memory", version: 1, cards: CARDS }),
  );
  for (const run of ["S01", "S02"]) answers.answered({ ...LOST, run, text: "Where?" });
  box.set("highwater.course", '{"acks": [1, 2]}');
  return carried.written();
}

test("all of it arrives in an empty browser, and twice is once", () => {
  const text = somebody();
  const mine = new Map(box);
  box.clear();
  for (let i = 0; i < 2; i += 1) {
    assert.equal(carried.keep(carried.read(text)), true);
    for (const [key, value] of mine)
      if (key !== "highwater.memory")
        assert.deepEqual(JSON.parse(box.get(key)), JSON.parse(value), key);
    assert.deepEqual(JSON.parse(box.get("highwater.memory")).cards, CARDS);
  }
  assert.equal(answers.sureAndWrong(answers.answers())[0].text, "Where?");
});

test("what was here stays beside what comes", () => {
  const text = somebody();
  box.clear();
  answers.answered({ probe: "leo@1.0.1", right: true, ids: [] });
  box.set("highwater.course", '{"acks": [3], "epochs": [1]}');
  assert.equal(carried.keep(carried.read(text)), true);
  assert.equal(answers.answers().length, 3);
  const course = JSON.parse(box.get("highwater.course"));
  assert.deepEqual([course.acks.sort(), course.epochs], [[1, 2, 3], [1]]);
});

test("a file of the first kind has cards only", () => {
  const old = JSON.stringify({ what: "highwater memory", version: 1, cards: CARDS });
  assert.deepEqual(carried.read(old), { cards: CARDS });
});

test("of a file of earlier pages, scores of their own are left out", () => {
  const old = { ...JSON.parse(somebody()), interview: { Q1: 0.5 }, claims: {}, score: {} };
  assert.deepEqual(Object.keys(carried.read(JSON.stringify(old))), ["cards", "answers", "course"]);
});

test("a damaged file is refused as a whole", () => {
  const good = JSON.parse(somebody());
  const bad = [
    { ...good, what: "?" },
    { ...good, version: 3 },
    { ...good, cards: [] },
    { ...good, answers: [{ ...good.answers[0], sure: 4 }] },
    { ...good, answers: [{ ...good.answers[0], href: "//evil.example" }] },
    { ...good, answers: [{ ...good.answers[0], at: "1" }] },
    { ...good, answers: {} },
    { ...good, course: { acks: ["<b>"] } },
  ];
  const before = new Map(box);
  for (const one of bad) assert.equal(carried.read(JSON.stringify(one)), null, JSON.stringify(one));
  assert.equal(carried.read("{"), null);
  assert.deepEqual(box, before);
});

test("where there is no room, nothing is changed", () => {
  const text = somebody();
  box.clear();
  box.set("highwater.course", '{"acks": [3]}');
  const before = new Map(box);
  room = 250; // the cards fit, the answers do not
  assert.equal(carried.keep(carried.read(text)), false);
  assert.deepEqual(box, before);
});
