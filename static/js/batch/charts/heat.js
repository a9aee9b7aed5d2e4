// Two varied values against each other: one small map a profile, the number in each cell.  A cell
// leads to its failing runs; so does its twin in the table, by keyboard.

import * as Plot from "@observablehq/plot";

import { widest } from "./common.js";
import { percent } from "./figures.js";

// Where cividis is light enough for black figures, as a share of the square-root scale.
const LIGHT_FROM = 0.45;
const HATCH = "url(#heat-hatch)";

function create(name, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Where the interval is wider than the value, the colour is not to be trusted: lines across it. */
function hatch() {
  const defs = create("defs");
  const pattern = defs.appendChild(
    create("pattern", {
      id: "heat-hatch",
      width: 7,
      height: 7,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    }),
  );
  for (const [stroke, x] of [
    ["#fff", 1],
    ["#000", 2.5],
  ])
    pattern.append(
      create("line", {
        x1: x,
        x2: x,
        y1: 0,
        y2: 7,
        stroke,
        "stroke-width": 1.2,
        "stroke-opacity": 0.5,
      }),
    );
  return defs;
}

/** Links would be stops inside a picture, which must have none: a click on the cell does the
 *  same. */
function clickable(svg) {
  for (const link of svg.querySelectorAll("a")) {
    const rect = link.firstElementChild;
    const to =
      link.getAttribute("href") ?? link.getAttributeNS("http://www.w3.org/1999/xlink", "href");
    rect.setAttribute("class", "go");
    rect.addEventListener("click", () => {
      location.href = to;
    });
    link.replaceWith(rect);
  }
  return svg;
}

export function draw(cells, profiles, [first, second], width) {
  const values = (name) => [...new Set(cells.map((cell) => cell[name]))];
  const top = Math.max(1e-9, ...cells.map((cell) => cell.share));
  const light = (c) => Math.sqrt(c.share / top) > LIGHT_FROM;
  const at = { fx: "profile", x: "x", y: "y" };
  return clickable(
    Plot.plot({
      width: Math.max(width, 90 + profiles.length * values("x").length * 56),
      // The name of the second value stands upright beside its rows, however few they are.
      height: Math.max(74 + values("y").length * 44, 60 + widest([second])),
      marginLeft: 70,
      marginBottom: 42,
      style: { background: "none", fontSize: "12.5px" },
      fx: { label: null, domain: profiles },
      x: { label: first, labelArrow: "none", domain: values("x") },
      y: { label: second, labelArrow: "none", domain: values("y") },
      color: { type: "sqrt", scheme: "cividis", domain: [0, top] },
      marks: [
        hatch,
        Plot.cell(cells, { ...at, fill: "share", inset: 1, href: "url" }),
        Plot.cell(
          cells.filter((c) => c.unsure),
          { ...at, fill: HATCH, inset: 1, pointerEvents: "none" },
        ),
        Plot.text(cells, {
          ...at,
          text: (c) => percent(c.share),
          fill: (c) => (light(c) ? "#000" : "#fff"),
          stroke: (c) => (light(c) ? "#fff" : "#000"),
          strokeOpacity: 0.55,
          strokeWidth: 3,
          pointerEvents: "none",
        }),
      ],
    }),
  );
}
