// Two varied values against each other: one small map a profile, the number in each cell.

import * as Plot from "@observablehq/plot";
import { percent } from "./common.js";

/** [{profile, x, y, share, unsure}] for a batch that varies exactly two keys.  Pure. */
export function cellsOf(batch, invariant) {
  const [first, second] = batch.varied;
  return batch.cells.filter((cell) => cell.n > 0).map((cell) => {
    const count = invariant ? cell.broken[invariant] : cell.violating;
    const share = count?.share ?? 0;
    return { profile: cell.profile, x: cell.values[first], y: cell.values[second], share, unsure: Boolean(count?.hits) && count.high - count.low > share };
  });
}

export function draw(batch, invariant, width) {
  const cells = cellsOf(batch, invariant);
  const [first, second] = batch.varied;
  const values = (name) => [...new Set(cells.map((cell) => cell[name]))];
  const rows = values("y").length;
  // Dark fills carry light figures: the middle of cividis is where black stops being readable.
  const top = Math.max(1e-9, ...cells.map((cell) => cell.share));
  const ink = (cell) => (Math.sqrt(cell.share / top) > 0.45 ? "#000" : "#fff");
  return Plot.plot({
    width, height: 74 + rows * 44, marginLeft: 70, marginBottom: 42,
    style: { background: "none", fontSize: "12.5px" },
    fx: { label: null, domain: batch.profiles }, x: { label: first, labelArrow: "none", domain: values("x") }, y: { label: second, labelArrow: "none", domain: values("y") },
    color: { type: "sqrt", scheme: "cividis", domain: [0, top] },
    marks: [
      Plot.cell(cells, { fx: "profile", x: "x", y: "y", fill: "share", inset: 1 }),
      Plot.text(cells, { fx: "profile", x: "x", y: "y", text: (c) => `${c.unsure ? "~" : ""}${percent(c.share)}`, fill: ink }),
    ],
  });
}

export const sentence = (batch, invariant) =>
  cellsOf(batch, invariant).map((c) => `${c.profile} ${batch.varied[0]}=${c.x} ${batch.varied[1]}=${c.y}: ${percent(c.share)}`).join("; ");
