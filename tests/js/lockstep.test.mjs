import assert from "node:assert/strict";
import test from "node:test";

import {
  differedBefore,
  differing,
  elements,
  firstDifference,
  moving,
  nextDifference,
  offsets,
  tellingDifference,
} from "../../static/js/compare/lockstep.js";

const PARTS = [
  { at: 0, what: [] },
  { at: 3, what: [["b1:leo", 3, 5]] },
  { at: 5, what: [] },
  { at: 8, what: [["b1:hw", 1, 2]] },
];

test("what differs holds until it differs otherwise", () => {
  assert.deepEqual(differing(PARTS, 2), []);
  assert.deepEqual(differing(PARTS, 4), [["b1:leo", 3, 5]]);
  assert.deepEqual(differing(PARTS, 6), []);
  assert.deepEqual(differing(PARTS, 99), [["b1:hw", 1, 2]]);
});

test("differences are gone through one by one", () => {
  assert.equal(firstDifference(PARTS), 3);
  assert.equal(nextDifference(PARTS, 3), 8);
  assert.equal(nextDifference(PARTS, 8), -1);
  assert.equal(firstDifference([{ at: 0, what: [] }]), -1);
});

test("a side that has nothing of the kind stands still", () => {
  const pairs = [
    [0, 0],
    [1, 0],
    [2, 1],
  ];
  assert.deepEqual(moving(pairs, 1), { a: true, b: false });
  assert.deepEqual(moving(pairs, 2), { a: true, b: true });
});

test("things are drawn by elements of their own partition", () => {
  assert.deepEqual(elements("b2:leo"), ["b2:leo", "b2"]);
  assert.deepEqual(elements("b2:role"), ["b2"]);
  assert.deepEqual(elements("p1/b2:leo"), []);
  assert.deepEqual(elements("p1/b2:leo", 1), ["b2:leo", "b2"]);
});

test("logs differ where their records do", () => {
  assert.deepEqual(offsets("0:a@0 1:b@0", "0:a@0 1:c@1 2:d@1"), [1, 2]);
  assert.deepEqual(offsets(null, ""), []);
});

test("a comparison opens where logs differ, and says how much differed before", () => {
  const parts = [
    { at: 2, what: [["rec:leader", 3, 2]] },
    { at: 5, what: [] },
    { at: 9, what: [["b1:hw", 1, 2]] },
    { at: 12, what: [["b1:log", "0:a@0", ""]] },
  ];
  assert.equal(tellingDifference(parts), 12);
  assert.equal(tellingDifference(parts.slice(0, 3)), 9);
  assert.equal(tellingDifference(parts.slice(0, 2)), 2);
  assert.equal(tellingDifference([]), -1);
  assert.equal(differedBefore(parts, 12), 2);
  assert.equal(differedBefore(parts, 2), 0);
});
