import assert from "node:assert/strict";
import test from "node:test";

import { lasts, MOST_FRAMES, plan, range, weighs } from "../../static/js/export/plan.js";

test("an animation rests on every step, moves between, and never has too many frames", () => {
  for (const [a, b] of [
    [0, 0],
    [3, 4],
    [0, 10],
    [0, 58],
    [0, 59],
    [0, 150],
    [0, 299],
    [0, 300],
    [7, 5000],
  ]) {
    for (const motion of [true, false]) {
      const frames = plan(range(a, b), { motion });
      assert.ok(frames.length <= MOST_FRAMES, `${a}–${b}: ${frames.length}`);
      assert.equal(frames[0].n, a);
      assert.deepEqual([frames.at(-1).n, frames.at(-1).p], [b, 1]);
      const rests = frames.filter((one) => one.p === 1).map((one) => one.n);
      if (b - a < MOST_FRAMES)
        assert.deepEqual(
          rests,
          Array.from({ length: b - a + 1 }, (_, i) => a + i),
        );
      assert.deepEqual(
        rests,
        [...new Set(rests)].sort((x, y) => x - y),
      );
      if (!motion) assert.equal(rests.length, frames.length);
    }
  }
  assert.equal(plan(range(0, 10)).filter((one) => one.p < 1).length, 40);
});

test("what takes longer to read is shown longer", () => {
  const frames = plan(range(0, 3), { motion: false, rest: (n) => (n === 2 ? 3000 : 1500) });
  assert.equal(frames[2].delay, 2 * frames[1].delay);
  assert.equal(lasts(frames), 5 * frames[1].delay);
  assert.equal(weighs(frames, 1000, 10), 1030);
});

test("a story rests on its beats alone", () => {
  const rests = plan([67, 81, 188]).filter((one) => one.p === 1);
  assert.deepEqual(
    rests.map((one) => one.n),
    [67, 81, 188],
  );
});
