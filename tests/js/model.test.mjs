import assert from "node:assert/strict";
import test from "node:test";

import {
  aimed,
  delayed,
  grown,
  idsOf,
  labels,
  moved,
  numberOf,
  ofKind,
  placeAt,
  rowsOf,
  rowsPlayed,
  scriptOf,
  shrunk,
  timed,
  verdictOf,
  verdictText,
  weighted,
} from "../../static/js/editor/model.js";

test("a script is rows, and rows are the script again", () => {
  const script =
    "produce m0\n[Z0102,K39] kill B         # It dies.\n# A line of its own.\n\nsettle #";
  const rows = rowsOf(script);
  assert.deepEqual(rows[1], { prefix: "Z0102,K39", move: "kill B", comment: "It dies." });
  assert.deepEqual(rows[2], { prefix: "", move: "", comment: "A line of its own." });
  assert.equal(rows.length, script.split("\n").length);
  assert.deepEqual(rowsOf(scriptOf(rows)), rows);
  assert.deepEqual(rowsOf(""), []);
});

test("a comment begins in one column", () => {
  assert.equal(
    scriptOf([{ prefix: "", move: "settle", comment: "Quiet." }]),
    `${"settle".padEnd(29)} # Quiet.`,
  );
});

test("entries move within their list only", () => {
  assert.deepEqual(moved([1, 2, 3], 0, 2), [2, 3, 1]);
  assert.deepEqual(moved([1, 2, 3], 2, 0), [3, 1, 2]);
  assert.deepEqual(moved([1, 2, 3], 0, -1), [1, 2, 3]);
});

test("what is no number is kept, so that the answer can say so", () => {
  assert.equal(numberOf("12"), 12);
  assert.equal(numberOf("many"), "many");
});

test("brokers come and go everywhere they are named", () => {
  const doc = {
    brokers: [
      { id: 1, name: "A" },
      { id: 2, name: "B" },
    ],
    partitions: [[1, 2], [1]],
    faults: [
      { kind: "kill", brokers: [2] },
      { kind: "cut", racks: ["a"] },
    ],
  };
  assert.deepEqual(grown(doc).partitions, [[1, 2, 3], [1]]);
  const fewer = shrunk(doc, 1);
  assert.deepEqual(fewer.partitions, [[1], [1]]);
  assert.deepEqual(fewer.faults, [{ kind: "cut", racks: ["a"] }]);
  assert.deepEqual(idsOf("B, A 9 x", doc.brokers), [2, 1, 9, "x"]);
  assert.equal(labels([2, 1], doc.brokers), "B A");
});

test("a verdict is a word or what breaks", () => {
  assert.deepEqual(verdictOf("violates I7, I6"), ["I7", "I6"]);
  assert.equal(verdictOf(" holds "), "holds");
  assert.equal(verdictText(["I7"]), "violates I7");
});

const KINDS = [
  { name: "kill", together: false, own: [] },
  { name: "cut", together: false, own: [] },
  { name: "slow", together: false, own: [{ name: "delay_ms", usual: 100 }] },
  { name: "slow_disk", together: false, own: [{ name: "records_per_s", usual: 10 }] },
  { name: "lossy", together: false, own: [{ name: "loss", usual: 0.1 }] },
  { name: "disk_fail", together: false, own: [{ name: "dir", usual: null }] },
  { name: "partition", together: true, own: [] },
  { name: "rolling_restart", together: true, own: [] },
  { name: "kill_controller", together: false, own: [], whole: true },
  { name: "operator", together: false, own: [], whole: true, plays: true },
];

test("a fault of another kind has what this kind needs", () => {
  const slow = ofKind({ kind: "kill", delay_ms: 0, mttr_ms: 5 }, "slow", KINDS);
  assert.deepEqual(slow, { kind: "slow", delay_ms: 100, mttr_ms: 5 });
  const disk = ofKind(slow, "slow_disk", KINDS);
  assert.deepEqual(disk, { kind: "slow_disk", delay_ms: 0, mttr_ms: 5, records_per_s: 10 });
  assert.deepEqual(ofKind(disk, "kill", KINDS), { kind: "kill", delay_ms: 0, mttr_ms: 5 });
  assert.deepEqual(ofKind(disk, "lossy", KINDS), {
    kind: "lossy",
    delay_ms: 0,
    mttr_ms: 5,
    loss: 0.1,
  });
  assert.deepEqual(ofKind({ kind: "kill", dir: 2 }, "disk_fail", KINDS), {
    kind: "disk_fail",
    delay_ms: 0,
  });
});

test("a fault of the controller names no brokers", () => {
  const brokers = [{ id: 1 }, { id: 2 }];
  const kill = { kind: "kill", brokers: [1], together: false, delay_ms: 0, mtbf_ms: 10 };
  const other = ofKind(kill, "kill_controller", KINDS, brokers);
  assert.deepEqual(other, { kind: "kill_controller", delay_ms: 0, mtbf_ms: 10 });
  assert.deepEqual(ofKind(other, "kill", KINDS, brokers), { ...kill, brokers: [1, 2] });
});

test("a partition leaves somebody on the other side", () => {
  const brokers = [{ id: 1 }, { id: 2 }];
  const split = ofKind(
    { kind: "kill", brokers: [1, 2], together: false, mttr_ms: 5 },
    "partition",
    KINDS,
    brokers,
  );
  assert.deepEqual(split, {
    kind: "partition",
    brokers: [1],
    together: true,
    mttr_ms: 5,
    delay_ms: 0,
  });
  assert.equal(ofKind(split, "cut", KINDS, brokers).together, false);
  assert.deepEqual(
    ofKind({ kind: "kill", brokers: [1, 2] }, "rolling_restart", KINDS, brokers).brokers,
    [1, 2],
  );
});

test("a fault aims at brokers or racks, comes by a rate or a schedule", () => {
  const brokers = [
    { id: 1, rack: "a" },
    { id: 2, rack: "b" },
    { id: 3, rack: "a" },
  ];
  const fault = { kind: "kill", brokers: [1], mtbf_ms: 10, importance: 3 };
  assert.deepEqual(aimed(fault, true, brokers).racks, ["a", "b"]);
  assert.deepEqual(aimed(aimed(fault, true, brokers), false, brokers).brokers, [1, 2, 3]);
  assert.deepEqual(timed(fault, "at_ms"), { kind: "kill", brokers: [1], at_ms: 10 });
  assert.equal(weighted(fault, 7).importance, 7);
  assert.ok(!("importance" in weighted(fault, 1)));
});

test("a delay changes its form and keeps what can be kept", () => {
  assert.deepEqual(delayed([0, 40], "tail"), { median: 1, p99: 40 });
  assert.deepEqual(delayed({ median: 2, p99: 40 }, "even"), [2, 40]);
  assert.deepEqual(delayed([1, 5], "even"), [1, 5]);
});

test("a move made in the middle goes after the line that is played there", () => {
  const rows = rowsOf("# first\nproduce a\nexpect ack a\nfetch 2\nfetch 2\nsettle");
  const facts = {
    total: 30,
    chapters: [
      [1, "produce a", ""],
      [5, "fetch 2", ""],
      [9, "fetch 2", ""],
    ],
  };
  assert.deepEqual(rowsPlayed(rows, facts.chapters), [1, 3, 4]);
  assert.deepEqual(
    [0, 1, 4, 5, 12, 30].map((n) => placeAt(rows, facts, n)),
    [0, 2, 2, 4, 5, 6],
  );
  assert.equal(placeAt(rows, null, 0), 6);
});
