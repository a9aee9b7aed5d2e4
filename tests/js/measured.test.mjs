// What a course gave, from two results; and which of two results of one side stays.

import assert from "node:assert/strict";
import { test } from "node:test";

const box = new Map();
globalThis.localStorage = {
  getItem: (key) => box.get(key) ?? null,
  setItem: (key, text) => box.set(key, text),
  removeItem: (key) => box.delete(key),
};
const { forget, gained, keep, kept } = await import("../../static/js/learn/store/measured.js");

test("what was won and lost is told by place", () => {
  assert.deepEqual(gained({ before: "1100", after: "1011" }), {
    before: 2,
    after: 3,
    n: 1,
    sort: "more",
    won: [2, 3],
    lost: [1],
  });
  assert.equal(gained({ before: "10", after: "01" }).sort, "same");
  assert.deepEqual(
    [gained({ before: "11", after: "00" })].map((one) => [one.sort, one.n]),
    [["less", 2]],
  );
});

test("the first result of a side stays, and what is no result is not read", () => {
  assert.deepEqual(keep("before", "0101"), { before: "0101" });
  assert.deepEqual(keep("before", "1111"), { before: "0101" });
  assert.deepEqual(keep("after", "1111"), { before: "0101", after: "1111" });
  box.set("highwater.measured", '{"before": "<b>", "after": "11"}');
  assert.deepEqual(kept(), { after: "11" });
  box.set("highwater.measured", "{");
  assert.deepEqual(kept(), {});
  forget();
  assert.deepEqual(kept(), {});
});
