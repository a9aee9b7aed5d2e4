// The upper half of a distribution over runs, p50 to p99.99, both axes logarithmic.

import * as Plot from "@observablehq/plot";

import { COLOURS, DASHES, SYMBOLS } from "./common.js";
import { decades, percentile, whole, wholeDecades } from "./figures.js";

const NARROW = 520;
const MARKS = [0.5, 0.9, 0.99, 0.999, 0.9999];
const rarity = (share) => 1 / (1 - share);

/** A profile's symbol at a place, and what it stands for. */
const keyEntry = (profile, words, place) => [
  Plot.dot([profile], { ...place, fill: () => profile, symbol: () => profile, r: 5 }),
  Plot.text([profile], {
    ...place,
    textAnchor: "start",
    dx: place.dx + 12,
    dy: place.dy - 6,
    text: () => words,
    fill: "currentColor",
  }),
];

/** points: [{profile, n, share, value in ms}]; what took no time is drawn at 1 ms. */
export function draw(points, profiles, t, width) {
  const drawn = profiles.filter((profile) => points.some((p) => p.profile === profile));
  const far = Math.max(...points.map((p) => p.share), 0.9);
  const runs = (profile) =>
    t("batch.tail.runs", { profile, n: whole(points.find((p) => p.profile === profile).n) });
  const [low, high] = wholeDecades(points.map((p) => p.value));
  const above = width < NARROW; // the key has no room beside the lines
  return Plot.plot({
    width,
    height: 290 + (above ? drawn.length * 20 : 0),
    marginLeft: 70,
    marginRight: above ? 24 : 190,
    marginTop: above ? 16 + drawn.length * 20 : 20,
    marginBottom: 42,
    style: { background: "none", fontSize: "12.5px", overflow: "visible" },
    x: {
      type: "log",
      domain: [2, rarity(far)],
      label: t("batch.tail.axis"),
      labelAnchor: "right",
      labelArrow: "none",
      grid: true,
      ticks: MARKS.filter((share) => share <= far).map(rarity),
      tickFormat: (x) => percentile(1 - 1 / x),
    },
    y: {
      type: "log",
      domain: [low, high],
      label: t("unit.ms"),
      labelArrow: "none",
      grid: true,
      ticks: decades([{ value: high }]).filter((ms) => ms >= low),
      tickFormat: whole,
    },
    color: { domain: profiles, range: profiles.map((_, i) => COLOURS[i % COLOURS.length]) },
    symbol: { domain: profiles, range: SYMBOLS },
    marks: [
      ...drawn.map((profile) =>
        Plot.line(
          points.filter((p) => p.profile === profile),
          {
            x: (p) => rarity(p.share),
            y: (p) => Math.max(1, p.value),
            stroke: "profile",
            strokeWidth: 2,
            strokeDasharray: DASHES[profiles.indexOf(profile) % DASHES.length],
          },
        ),
      ),
      Plot.dot(points, {
        x: (p) => rarity(p.share),
        y: (p) => Math.max(1, p.value),
        fill: "profile",
        stroke: "var(--panel)",
        symbol: "profile",
        r: 4.5,
      }),
      ...drawn.flatMap((profile, i) =>
        keyEntry(
          profile,
          runs(profile),
          above
            ? { frameAnchor: "top-left", dx: 8, dy: -8 - (drawn.length - i) * 20 }
            : { frameAnchor: "top-right", dx: 18, dy: 8 + i * 20 },
        ),
      ),
    ],
  });
}
