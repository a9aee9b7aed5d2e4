// How sure somebody was: what is counted, and what is said of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { answersOf, calibration, saying } from "../../static/js/learn/store/calibration.js";

const many = (sure, right, of) =>
  Array.from({ length: of }, (_, i) => ({ sure, right: i < right }));

test("each word has its own count, and who said nothing is in none", () => {
  const rows = calibration([...many(3, 7, 10), ...many(1, 1, 2), ...many(0, 4, 4), {}]);
  assert.deepEqual(rows, [
    { sure: 3, right: 7, of: 10 },
    { sure: 2, right: 0, of: 0 },
    { sure: 1, right: 1, of: 2 },
  ]);
  assert.equal(saying(calibration(many(undefined, 3, 3))), null);
});

test("the surest answers are told, and five of them say something", () => {
  const found = (answers) => {
    const { sure, right, of, found: what } = saying(calibration(answers));
    return [sure, right, of, what];
  };
  assert.deepEqual(found(many(3, 7, 10)), [3, 7, 10, "over"]);
  assert.deepEqual(found(many(3, 8, 10)), [3, 8, 10, "well"]);
  assert.deepEqual(found(many(3, 0, 4)), [3, 0, 4, "few"]);
  assert.deepEqual(found(many(2, 3, 9)), [2, 3, 9, "plain"]);
  assert.deepEqual(found(many(2, 3, 4)), [2, 3, 4, "few"]);
  assert.deepEqual(found(many(1, 2, 8)), [1, 2, 8, "plain"]);
  assert.deepEqual(found(many(1, 4, 5)), [1, 4, 5, "under"]);
  assert.deepEqual(found([...many(3, 10, 10), ...many(1, 5, 5)]), [3, 10, 10, "under"]);
  assert.deepEqual(found([...many(3, 5, 10), ...many(1, 5, 5)]), [3, 5, 10, "over"]);
});

test("a result of ten questions is read sign by sign", () => {
  assert.deepEqual(answersOf("10", "30"), [
    { right: true, sure: 3 },
    { right: false, sure: 0 },
  ]);
  assert.deepEqual(answersOf(undefined, undefined), []);
  assert.deepEqual(answersOf("1", undefined), [{ right: true, sure: 0 }]);
});
