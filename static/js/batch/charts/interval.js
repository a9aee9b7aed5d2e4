// Interval dots: the share of runs that broke an invariant, with its 95 % interval, on a log axis.
// The figures come from the server; nothing is computed here but where to draw them.

import * as Plot from "@observablehq/plot";

import { COLOURS, SYMBOLS, widest } from "./common.js";
import { percent, shareDomain, shareLabel } from "./figures.js";

const ROW = 26;
const LEAST = 260;

export function draw(rows, profiles, t, width) {
  const varied = rows.some((row) => row.label);
  const place = (row) => (varied ? `${row.label}\u00a0 ${row.profile}` : row.profile);
  const [low, high] = shareDomain(rows);
  const seen = rows.filter((row) => row.hits);
  const none = rows.filter((row) => !row.hits);
  const names = 20 + widest(rows.map(place));
  const wide = Math.max(width, names + LEAST); // a narrow page scrolls inside the figure
  const end = (row) => Math.min(high, row.high);
  return Plot.plot({
    width: wide,
    height: 60 + rows.length * ROW,
    marginLeft: names,
    marginRight: 100,
    marginBottom: 42,
    style: { background: "none", fontSize: "12.5px", overflow: "visible" },
    x: {
      type: "log",
      domain: [low, high],
      label: t("batch.shares.axis"),
      labelAnchor: "left",
      labelArrow: "none",
      tickFormat: percent,
      grid: true,
      ticks: Math.max(2, Math.round(Math.log10(high / low))),
    },
    y: { domain: rows.map(place), label: null, tickSize: 0 },
    symbol: { domain: profiles, range: SYMBOLS },
    color: { domain: profiles, range: profiles.map((_, i) => COLOURS[i % COLOURS.length]) },
    marks: [
      Plot.link(seen, {
        y1: place,
        y2: place,
        x1: (r) => Math.max(low, r.low),
        x2: "high",
        stroke: "profile",
        strokeWidth: 2,
      }),
      Plot.dot(seen, {
        y: place,
        x: "share",
        fill: "profile",
        stroke: "var(--panel)",
        symbol: "profile",
        r: 5.5,
      }),
      Plot.arrow(none, {
        y1: place,
        y2: place,
        x1: end,
        x2: () => low,
        stroke: "profile",
        strokeWidth: 1.6,
        strokeDasharray: "3 3",
        headLength: 7,
        inset: 2,
      }),
      Plot.text(rows, {
        y: place,
        x: end,
        text: (r) => shareLabel(r, t),
        textAnchor: "start",
        dx: 8,
        fill: "currentColor",
      }),
    ],
  });
}
