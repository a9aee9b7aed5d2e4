// Interval dots: the share of runs that broke an invariant, with its 95 % interval, on a log axis.
// The figures come from the server; nothing is computed here but where to draw them.

import * as Plot from "@observablehq/plot";
import { COLOURS, SYMBOLS, look, percent, whole } from "./common.js";

/** One row a profile and cell for the chosen invariant ("" = any).  Pure. */
export function rowsOf(batch, invariant) {
  return batch.cells.filter((cell) => cell.n > 0).map((cell) => {
    const none = { hits: 0, n: cell.n, share: 0, low: 0, high: Math.min(1, 3 / cell.n) };
    const count = invariant ? cell.broken[invariant] ?? none : cell.violating;
    return { profile: cell.profile, label: cell.label, ...count, n: cell.n };
  });
}

/** The axis: from below the smallest interval to a round number above the largest.  Pure. */
export function domainOf(rows) {
  const lows = rows.map((r) => (r.hits ? r.low : r.high / 3)).filter((v) => v > 0);
  const low = Math.max(1e-7, Math.min(1e-2, ...lows));
  const high = Math.max(...rows.map((r) => r.high), low * 10);
  return [10 ** Math.floor(Math.log10(low)), Math.min(1, 10 ** Math.ceil(Math.log10(high)))];
}

/** What stands at the end of a row.  Pure. */
export const endLabel = (row, t) => (row.hits ? percent(row.share) : t("batch.shares.none", { n: whole(row.n) }));

export function draw(batch, invariant, t, width) {
  const rows = rowsOf(batch, invariant);
  const varied = rows.some((row) => row.label);
  const place = (row) => (varied ? `${row.label}\u00a0 ${row.profile}` : row.profile);
  const [low, high] = domainOf(rows);
  const at = (row) => batch.profiles.indexOf(row.profile);
  const seen = rows.filter((row) => row.hits);
  const none = rows.filter((row) => !row.hits);
  const longest = Math.max(...rows.map((row) => place(row).length));
  return Plot.plot({
    width, height: 56 + rows.length * 26, marginLeft: Math.min(width * 0.45, 20 + longest * 7.2), marginRight: 96, marginBottom: 38,
    style: { background: "none", fontSize: "12.5px", overflow: "visible" },
    x: { type: "log", domain: [low, high], label: t("batch.shares.axis"), labelAnchor: "left", labelArrow: "none", tickFormat: (v) => percent(v), grid: true, ticks: Math.max(2, Math.round(Math.log10(high / low))) },
    y: { domain: rows.map(place), label: null, tickSize: 0 },
    symbol: { domain: batch.profiles, range: SYMBOLS },
    color: { domain: batch.profiles, range: batch.profiles.map((_, i) => COLOURS[i % COLOURS.length]) },
    marks: [
      Plot.link(seen, { y1: place, y2: place, x1: (r) => Math.max(low, r.low), x2: (r) => r.high, stroke: "profile", strokeWidth: 2 }),
      Plot.dot(seen, { y: place, x: "share", fill: "profile", stroke: "var(--panel)", symbol: "profile", r: 5.5 }),
      Plot.arrow(none, { y1: place, y2: place, x1: (r) => Math.min(high, r.high), x2: () => low, stroke: "profile", strokeWidth: 1.6, strokeDasharray: "3 3", headLength: 7, inset: 2 }),
      Plot.text(rows, { y: place, x: (r) => Math.min(high, r.high), text: (r) => endLabel(r, t), textAnchor: "start", dx: 8, fill: "currentColor" }),
    ],
  });
}

/** The sentence that stands for the picture.  Pure. */
export const sentence = (batch, invariant, t) =>
  rowsOf(batch, invariant).map((row) => `${row.profile}${row.label ? ` ${row.label}` : ""}: ${endLabel(row, t)} (${percent(row.low)} – ${percent(row.high)})`).join("; ");

export { look };
