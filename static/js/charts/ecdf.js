// How a measure is distributed over runs: the share of runs at or below a value, a line a profile.

import * as Plot from "@observablehq/plot";
import { COLOURS, DASHES, SYMBOLS, percent, whole } from "./common.js";

/** Points of every line: [{profile, label, value, share}], smallest and largest value included.  Pure. */
export function pointsOf(metric) {
  return metric.cells.flatMap((cell) => {
    if (!cell.n) return [];
    const points = [[0, cell.min], ...cell.curve, [1, cell.max]];
    return points.map(([share, value]) => ({ profile: cell.profile, label: cell.label, share, value }));
  });
}

/** Milliseconds and counts spread over decades; zero has its place on the axis.  Pure. */
export const worth = (metric) => metric.cells.some((cell) => cell.n && cell.max > cell.min);

export function draw(metric, profiles, t, width) {
  const points = pointsOf(metric);
  const line = (p) => `${p.profile}\u0000${p.label}`;
  const ends = [...new Map(points.map((p) => [line(p), p])).values()];
  return Plot.plot({
    width, height: 280, marginLeft: 56, marginRight: 110, marginBottom: 40,
    style: { background: "none", fontSize: "12.5px", overflow: "visible" },
    x: { type: "symlog", constant: 1, label: t(`unit.${metric.unit}`), labelArrow: "none", grid: true, ticks: 6, tickFormat: (v) => whole(v) },
    y: { domain: [0, 1], label: t("batch.curve.axis"), labelArrow: "none", tickFormat: (v) => percent(v), grid: true, ticks: 5 },
    color: { domain: profiles, range: profiles.map((_, i) => COLOURS[i % COLOURS.length]) },
    symbol: { domain: profiles, range: SYMBOLS },
    marks: [
      ...profiles.map((profile, i) => Plot.line(points.filter((p) => p.profile === profile), { x: "value", y: "share", z: line, stroke: "profile", strokeWidth: 2, curve: "step-after", strokeDasharray: DASHES[i % DASHES.length] === "none" ? undefined : DASHES[i % DASHES.length] })),
      Plot.dot(ends, { x: "value", y: "share", fill: "profile", symbol: "profile", r: 4.5 }),
      Plot.text(ends, Plot.dodgeY({ anchor: "top", padding: 2, x: "value", text: (p) => (p.label ? `${p.profile} ${p.label}` : p.profile), textAnchor: "start", dx: 8, fill: "currentColor" })),
    ],
  });
}

export const sentence = (metric, t) =>
  metric.cells.filter((c) => c.n).map((c) => `${c.profile}${c.label ? ` ${c.label}` : ""}: ${t("batch.col.p50")} ${whole(c.quantiles[0])}, ${t("batch.col.p99")} ${whole(c.quantiles[2])}, ${t("batch.col.max")} ${whole(c.max)}`).join("; ");
