import assert from "node:assert/strict";
import test from "node:test";

import { staircase } from "../../static/js/core/rail.js";

test("a share holds until the next step that was looked at", () => {
  const steps = [
    { step: 1, share: 0 },
    { step: 5, share: 0.5 },
    { step: 9, share: 1 },
  ];
  assert.deepEqual(
    staircase(steps, (n) => n * 10, 10),
    ["10,26.0", "50,26.0", "50,13.0", "90,13.0", "90,0.0", "100,0.0"],
  );
});
