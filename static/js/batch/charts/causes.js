// How failing runs failed: a bar for each invariant and the rule that was applied last.

import * as Plot from "@observablehq/plot";

import { COLOURS, widest } from "./common.js";
import { causeName } from "./figures.js";

const ROW = 26;
const LEAST = 260;

/** rows: [{profile, invariant, rule, runs}], the most frequent first. */
export function draw(rows, profiles, t, width) {
  const names = [...new Set(rows.map(causeName))];
  const colour = (one) => COLOURS[profiles.indexOf(one.profile) % COLOURS.length];
  const left = widest(names) + 24;
  return Plot.plot({
    width: Math.max(width, left + LEAST), // a narrow page scrolls inside the figure
    height: names.length * ROW + 70,
    marginLeft: left,
    marginRight: 20,
    marginBottom: 42,
    marginTop: 10,
    style: { background: "none", fontSize: "12.5px", overflow: "visible" },
    x: { label: t("batch.col.runs"), labelArrow: "none", grid: true, ticks: 5 },
    y: { domain: names, label: null },
    marks: [
      Plot.barX(
        rows,
        Plot.stackX({
          x: "runs",
          y: causeName,
          fill: colour,
          z: "profile",
          order: profiles,
          inset: 1,
        }),
      ),
      Plot.text(
        rows,
        Plot.stackX({
          x: "runs",
          y: causeName,
          z: "profile",
          order: profiles,
          text: "profile",
          fill: "#fff",
        }),
      ),
    ],
  });
}
