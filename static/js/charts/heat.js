// Two varied values against each other: one small map a profile, the number in each cell.

import * as Plot from "@observablehq/plot";
import { percent } from "./figures.js";

// Where cividis is light enough for black figures, as a share of the square-root scale.
const LIGHT_FROM = 0.45;

export function draw(cells, profiles, [first, second], width) {
  const values = (name) => [...new Set(cells.map((cell) => cell[name]))];
  const top = Math.max(1e-9, ...cells.map((cell) => cell.share));
  return Plot.plot({
    width: Math.max(width, 90 + profiles.length * values("x").length * 56), height: 74 + values("y").length * 44, marginLeft: 70, marginBottom: 42,
    style: { background: "none", fontSize: "12.5px" },
    fx: { label: null, domain: profiles },
    x: { label: first, labelArrow: "none", domain: values("x") },
    y: { label: second, labelArrow: "none", domain: values("y") },
    color: { type: "sqrt", scheme: "cividis", domain: [0, top] },
    marks: [
      Plot.cell(cells, { fx: "profile", x: "x", y: "y", fill: "share", inset: 1 }),
      // ~ says that the interval is wider than the value.
      Plot.text(cells, { fx: "profile", x: "x", y: "y", text: (c) => `${c.unsure ? "~" : ""}${percent(c.share)}`, fill: (c) => (Math.sqrt(c.share / top) > LIGHT_FROM ? "#000" : "#fff") }),
    ],
  });
}
