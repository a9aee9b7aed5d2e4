// The exact interval of a page without a server is that of app/batch/intervals.py.

import assert from "node:assert/strict";
import test from "node:test";

import { exact } from "../../static/js/batch/binomial.js";

// hits, runs, and the ends as scipy's betaincinv gives them.
const KNOWN = [
  [0, 10, 0, 0.3084971078187607],
  [1, 10, 0.0025285785444617848, 0.4450161170281954],
  [10, 10, 0.6915028921812392, 1],
  [7, 100, 0.028605288907438704, 0.13891972845585732],
  [85, 2000, 0.03408607459315085, 0.05228591324237417],
  [2000, 5000, 0.38638267508177077, 0.41373419057255095],
  [4999, 5000, 0.998886180619666, 0.999994936451223],
  [3, 5000, 0.00012375152046931285, 0.0017524436033960471],
];

test("an interval has the ends of Clopper and Pearson", () => {
  for (const [hits, runs, low, high] of KNOWN) {
    const found = exact(hits, runs);
    assert.ok(Math.abs(found[0] - low) < 1e-7, `${hits} of ${runs}: ${found[0]}`);
    assert.ok(Math.abs(found[1] - high) < 1e-7, `${hits} of ${runs}: ${found[1]}`);
  }
});
