// The point of no return: of each step, the share of its futures that break the invariant.
// The figures come from the server; nothing is computed here but where to draw them.

import * as Plot from "@observablehq/plot";

import { percent } from "./figures.js";

/** rows: [{step, share, low, high}] in the order of the steps. */
export function draw(rows, t, width) {
  return Plot.plot({
    width,
    height: 230,
    marginLeft: 60,
    marginRight: 20,
    marginBottom: 42,
    style: { background: "none", fontSize: "12.5px", overflow: "visible" },
    x: { label: t("batch.col.step"), labelArrow: "none", grid: true },
    y: {
      domain: [0, 1],
      label: t("batch.futures.axis"),
      labelArrow: "none",
      tickFormat: percent,
      grid: true,
      ticks: 5,
    },
    marks: [
      Plot.areaY(rows, {
        x: "step",
        y1: "low",
        y2: "high",
        fill: "var(--bad)",
        fillOpacity: 0.18,
        curve: "step-after",
      }),
      Plot.lineY(rows, {
        x: "step",
        y: "share",
        stroke: "var(--bad)",
        strokeWidth: 2,
        curve: "step-after",
      }),
      Plot.dot(rows, { x: "step", y: "share", fill: "var(--bad)", r: 3 }),
    ],
  });
}
