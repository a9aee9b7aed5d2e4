import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";

import {
  embed,
  FIELDS,
  frame,
  labRelease,
  mended,
  query,
  read,
  short,
  whole,
  within,
} from "../../static/js/core/link.js";
import { pack, unpack, Unreadable } from "../../static/js/core/packing.js";
import { kafka, translator } from "../../static/js/i18n/words.js";
import { modules } from "../../static/js/share/qr.js";

const TEXT = JSON.stringify({
  format: 1,
  moves: ["produce m0", "kill 1"],
  title: "Überlebt m0? 副本",
});
const KAFKAS = {
  "kafka.K39": "Kafka 3.9.1",
  "kafka.K41": "Kafka 4.1 – 4.2",
  "kafka.Z33": "Kafka 3.9.1 (ZooKeeper)",
  "kafka.Z0102": "Kafka 0.10.2",
  "kafka.Z09": "Kafka 0.10.1.1",
  "kafka.Z08": "Kafka 0.8.2",
  "kafka.0.11.0.3": "Kafka 0.11.0.2 – 0.11.0.3",
};
const KNOWN = { ...FIELDS, lang: ["en", "zh"] };
const refusal = async (packed) => {
  try {
    await unpack(packed);
  } catch (problem) {
    assert.ok(problem instanceof Unreadable, String(problem));
    return [problem.key, problem.args];
  }
  return assert.fail("it was read");
};

test("a run in a link is what it was", async () => {
  const packed = await pack(TEXT);
  assert.match(packed, /^2\.\d+\.[A-Za-z0-9_-]+$/);
  assert.equal(await unpack(packed), TEXT);
});

test("links of the first format are still read", async () => {
  const bytes = new Uint8Array(
    await new Response(
      new Blob([TEXT]).stream().pipeThrough(new CompressionStream("deflate-raw")),
    ).arrayBuffer(),
  );
  assert.equal(await unpack("1." + Buffer.from(bytes).toString("base64url")), TEXT);
});

test("what cannot be read is named with its place", async () => {
  const packed = await pack(TEXT);
  const [, length, data] = packed.split(".");
  const from = packed.length - data.length + 1;
  assert.deepEqual(await refusal("hello.world"), ["link.head", { found: "hello.wo" }]);
  assert.deepEqual(await refusal("7.3.abc"), ["link.version", { v: 7 }]);
  assert.deepEqual(await refusal("2.abc"), ["link.no_length", { at: 3 }]);
  assert.deepEqual(await refusal(packed.slice(0, -5)), [
    "link.short",
    { said: Number(length), has: data.length - 5, n: 5 },
  ]);
  assert.deepEqual(await refusal(packed + "xy"), [
    "link.long",
    { said: data.length, at: packed.length + 1, n: 2 },
  ]);
  assert.deepEqual(await refusal(`2.${length}.${data.slice(0, 9)}%${data.slice(10)}`), [
    "link.character",
    { c: "%", at: from + 9 },
  ]);
});

test("no changed character passes", async () => {
  const packed = await pack(TEXT);
  const from = packed.lastIndexOf(".") + 1;
  for (let at = from; at < packed.length - 1; at += 1) {
    const other = packed[at] === "A" ? "B" : "A";
    const [key] = await refusal(packed.slice(0, at) + other + packed.slice(at + 1));
    assert.equal(key, "link.damaged", `character ${at}`);
  }
});

test("an address says what is seen, and what it cannot say is named", () => {
  const seen = { step: 37, p: 1, size: "moment", lang: "zh" };
  assert.deepEqual(read(query(seen), KNOWN), { seen, problems: [] });
  const { seen: some, problems } = read("?step=x&size=huge&lang=en&other=1", KNOWN);
  assert.deepEqual(some, { lang: "en" });
  assert.deepEqual(
    problems.map((p) => [p.key, p.args.name, p.args.value]),
    [
      ["link.number", "step", "x"],
      ["link.value", "size", "huge"],
    ],
  );
  assert.equal(within({ step: 9, p: 4 }, { total: 5, partitions: 2 }).problems.length, 2);
  assert.deepEqual(within({ step: 5, p: 1 }, { total: 5, partitions: 2 }), {
    step: 5,
    p: 1,
    problems: [],
  });
  assert.equal(query({ step: 0, lang: "en" }, "step=4&still=1&lang=zh"), "?lang=en&still=1");
  assert.equal(within({}, { total: 5, partitions: 2, first: 1 }).p, 1);
  assert.equal(within({ p: 0 }, { total: 5, partitions: 2, first: 1 }).p, 0);
  assert.equal(query({ p: 0 }), "?p=0");
});

test("what was added behind the run of a link is read as if it stood before it", () => {
  assert.equal(mended("?step=3", "#run=2.1.a&lang=zh"), "?step=3&lang=zh#run=2.1.a");
  assert.equal(mended("", "#run=2.1.a&odd=1&view=lanes"), "?view=lanes#run=2.1.a&odd=1");
  assert.equal(mended("?lang=en", "#run=2.1.a"), null);
  assert.equal(mended("", "#lang=zh"), null);
});

test("every field that a link may have is written and taken back by its query", () => {
  const looks = { tab: "now", view: "lanes", layers: "ends", show: "b1", kafka: "3.9.1" };
  const seen = { step: 3, p: 0, size: "event", lang: "zh", ...looks };
  const link = "?step=3&p=0&size=event&tab=now&lang=zh&view=lanes&layers=ends&show=b1&kafka=3.9.1";
  assert.equal(query(seen), link);
  assert.equal(query({}, link), "");
  assert.equal(mended("", `#run=2.1.a&${query(seen).slice(1)}`), `${link}#run=2.1.a`);
  for (const name of Object.keys(FIELDS)) assert.ok(name in seen, name);
});

test("the laboratory's release is the run's, and null where it never starts the same brokers", () => {
  const release = (name) => labRelease(kafka(translator(KAFKAS), name));
  assert.equal(release("K39-strict_min_isr"), "3.9.1");
  assert.equal(release("K41+elr=min"), "4.2");
  assert.equal(release("Z0102"), "0.10.2");
  assert.equal(release("0.11.0.3"), "0.11.0.3");
  for (const name of ["Z33", "Z33+elr", "Z09", "Z08", "K99"]) assert.equal(release(name), null);
});

test("links and frames carry their run", () => {
  const seen = { step: 3, size: "event", tab: "now", lang: "en" };
  assert.equal(short("http://h", "ab", seen), "http://h/r/ab?step=3&size=event&tab=now&lang=en");
  assert.ok(whole("http://h", "2.1.a", seen).endsWith("#run=2.1.a"));
  const url = embed("http://h", "ab", { step: 3, controls: "play", lang: "zh" });
  assert.equal(url, "http://h/e/ab?step=3&controls=play&panel=now&theme=auto&lang=zh");
  assert.match(frame(url, 'Is "m0" <lost>?', 300), /title="Is &quot;m0&quot; &lt;lost>\?"/);
});

// The three patterns were read back by an independent decoder when they were pinned.
test("a QR code is a square with its three eyes, and does not change", () => {
  const eye = "1111111100000110111011011101101110110000011111111";
  for (const [text, size, sum] of [
    ["https://x.org/", 21, "db48487b5d33"],
    ["https://x.org/" + "aB3-_".repeat(20), 41, "815f4e1b3874"],
    ["https://x.org/" + "aB3-_".repeat(237), 117, "531071348b55"],
  ]) {
    const rows = modules(text);
    assert.equal(rows.length, size);
    const corner = (x, y) =>
      rows
        .slice(y, y + 7)
        .map((row) => row.slice(x, x + 7).join(""))
        .join("");
    for (const [x, y] of [
      [0, 0],
      [size - 7, 0],
      [0, size - 7],
    ])
      assert.equal(corner(x, y), eye);
    assert.equal(
      createHash("sha256")
        .update(rows.map((row) => row.join("")).join("\n"))
        .digest("hex")
        .slice(0, 12),
      sum,
    );
  }
  assert.equal(modules("x".repeat(2000)), null);
});
