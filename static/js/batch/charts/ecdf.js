// How a measure is distributed over runs: the share of runs at or below a value, a line a profile.

import * as Plot from "@observablehq/plot";

import { COLOURS, DASHES, SYMBOLS } from "./common.js";
import { decades, percent, whole } from "./figures.js";

const MARKED = 0.5;

/** The key stands beside the lines: their ends lie too close together for labels. */
const keyEntry = (profile, i) => [
  Plot.dot([profile], {
    frameAnchor: "top-right",
    dx: 18,
    dy: 8 + i * 20,
    fill: () => profile,
    symbol: () => profile,
    r: 5,
  }),
  Plot.text([profile], {
    frameAnchor: "top-right",
    textAnchor: "start",
    dx: 30,
    dy: 2 + i * 20,
    text: () => profile,
    fill: "currentColor",
  }),
];

export function draw(points, profiles, unit, t, width) {
  const middle = points.filter((p) => p.share === MARKED);
  const key = profiles
    .filter((profile) => points.some((p) => p.profile === profile))
    .map((profile, i) => ({ profile, i }));
  const ticks = decades(points);
  return Plot.plot({
    width,
    height: 290,
    marginLeft: 60,
    marginRight: 110,
    marginBottom: 42,
    style: { background: "none", fontSize: "12.5px", overflow: "visible" },
    x: {
      type: "symlog",
      constant: 1,
      label: t(`unit.${unit}`),
      labelArrow: "none",
      grid: true,
      ticks,
      tickFormat: whole,
    },
    y: {
      domain: [0, 1],
      label: t("batch.curve.axis"),
      labelArrow: "none",
      tickFormat: percent,
      grid: true,
      ticks: 5,
    },
    color: { domain: profiles, range: profiles.map((_, i) => COLOURS[i % COLOURS.length]) },
    symbol: { domain: profiles, range: SYMBOLS },
    marks: [
      ...profiles.map((profile, i) =>
        Plot.line(
          points.filter((p) => p.profile === profile),
          {
            x: "value",
            y: "share",
            stroke: "profile",
            strokeWidth: 2,
            strokeDasharray: DASHES[i % DASHES.length],
          },
        ),
      ),
      Plot.dot(middle, {
        x: "value",
        y: "share",
        fill: "profile",
        stroke: "var(--panel)",
        symbol: "profile",
        r: 5.5,
      }),
      ...key.flatMap(({ profile, i }) => keyEntry(profile, i)),
    ],
  });
}
