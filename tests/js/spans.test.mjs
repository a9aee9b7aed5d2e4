import assert from "node:assert/strict";
import test from "node:test";

import { msOf, spanText } from "../../static/js/editor/model.js";

test("spans of time are read as people write them", () => {
  assert.equal(msOf("30d"), 2_592_000_000);
  assert.equal(msOf(" 1.5 s "), 1500);
  assert.equal(msOf("500"), 500);
  assert.equal(msOf("soon"), "soon");
  assert.equal(msOf("-5"), "-5");
});

test("spans of time are written in the largest unit that leaves them whole", () => {
  assert.deepEqual([2_592_000_000, 21_600_000, 5_400_000, 4000, 1500].map(spanText), [
    "30d",
    "6h",
    "90m",
    "4s",
    "1500ms",
  ]);
  assert.deepEqual([0, undefined, "soon"].map(spanText), [0, "", "soon"]);
});
