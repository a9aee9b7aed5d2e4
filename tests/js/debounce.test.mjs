import assert from "node:assert/strict";
import test from "node:test";

import { newest } from "../../static/js/core/debounce.js";

/** A timer that rings when it is told to. */
function bell() {
  const due = [];
  return {
    later: (f) => due.push(f),
    ring: async () => {
      due.splice(0).forEach((f) => f());
      await settled();
    },
  };
}
const settled = () => new Promise((done) => setImmediate(done));

test("what was asked for meanwhile is done once, with the newest state", async () => {
  const { later, ring } = bell();
  const seen = [];
  let state = 1;
  const ask = newest(
    () => {
      seen.push(state);
    },
    250,
    later,
  );
  ask();
  for (state of [2, 3, 4]) ask();
  await settled();
  assert.deepEqual(seen, [1]);
  await ring();
  assert.deepEqual(seen, [1, 4]);
  await ring();
  assert.deepEqual(seen, [1, 4]);
  state = 5;
  ask();
  await settled();
  assert.deepEqual(seen, [1, 4, 5]);
});

test("work is never done twice at once", async () => {
  let open = 0;
  let most = 0;
  const ask = newest(async () => {
    open += 1;
    most = Math.max(most, open);
    await settled();
    open -= 1;
  });
  await Promise.all([ask(), ask(), ask()]);
  assert.equal(most, 1);
  assert.equal(open, 0);
});
