import assert from "node:assert/strict";
import { test } from "node:test";

import { changed, Colours } from "../../static/js/export/colours.js";

const picture = (width, height, marks = {}) => {
  const made = new Int32Array(width * height);
  for (const [at, colour] of Object.entries(marks)) made[at] = colour;
  return made;
};

test("the box holds every pixel that differs, and no line more", () => {
  const before = picture(7, 5);
  assert.equal(changed(before, picture(7, 5), 7), null);
  for (const at of [0, 6, 17, 28, 34]) {
    assert.deepEqual(changed(picture(7, 5, { [at]: 9 }), before, 7), {
      x: at % 7,
      y: Math.floor(at / 7),
      w: 1,
      h: 1,
    });
  }
  // (5, 1), (2, 2) and (3, 4): the widest lines are neither the first nor the last.
  assert.deepEqual(changed(picture(7, 5, { 12: 1, 16: 1, 31: 1 }), before, 7), {
    x: 2,
    y: 1,
    w: 4,
    h: 4,
  });
  assert.deepEqual(changed(picture(7, 5, { 8: 1, 20: 1, 29: 1 }), before, 7), {
    x: 1,
    y: 1,
    w: 6,
    h: 4,
  });
});

test("common colours are kept as they are, rare ones become the nearest", () => {
  const colours = new Colours();
  const nearest = (all, [r]) =>
    all.reduce((best, one, i) => (Math.abs(one[0] - r) < Math.abs(all[best][0] - r) ? i : best), 0);
  colours.add(0x0000f0, 50);
  colours.add(0x000010, 40);
  colours.add(0x0000e0, 1);
  colours.add(0x000010, 40);
  assert.deepEqual(colours.palette(2, nearest), [
    [0x10, 0, 0],
    [0xf0, 0, 0],
  ]);
  assert.deepEqual(
    [0x000010, 0x0000f0, 0x0000e0].map((one) => colours.index[colours.slot(one)]),
    [0, 1, 1],
  );
  colours.clear();
  colours.add(0x123456, 1);
  assert.deepEqual(colours.palette(255, nearest), [[0x56, 0x34, 0x12]]);
});

test("a photograph is counted as far as there is room", () => {
  const colours = new Colours();
  for (let one = 0; one < 40_000; one += 1) colours.add((one * 419) & 0xffffff, 1);
  assert.equal(colours.used.length, 32_768);
  assert.equal(colours.palette(255, () => 7).length, 255);
});
