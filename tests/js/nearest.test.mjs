import assert from "node:assert/strict";
import test from "node:test";

import { distance, nearest } from "../../static/js/core/nearest.js";

test("distance counts the letters that must change, up to a bound", () => {
  assert.equal(distance("watermark", "watermark"), 0);
  assert.equal(distance("watermrk", "watermark"), 1);
  assert.equal(distance("elecktion", "election"), 1);
  assert.ok(distance("isr", "watermark", 2) > 2);
});

test("the nearest words come first, and what is written right is not offered", () => {
  assert.deepEqual(nearest("elecktion", ["election", "elections", "lossy"]).slice(0, 1), [
    "election",
  ]);
  assert.deepEqual(nearest("election", ["lossy"]), []);
  assert.deepEqual(nearest("", ["lossy"]), []);
});
