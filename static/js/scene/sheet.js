// What a picture is drawn on: the layers of a stage, its patterns for paper, the page's letters,
// and the rings around what is pointed at.

import { SVG } from "./draw.js";
import { measureWith } from "./node.js";

/** One of the two pictures that lie on each other in `host`: {svg, root}. */
export function layer(host, cls) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", cls);
  const root = document.createElementNS(SVG, "g");
  svg.append(root);
  host.append(svg);
  return { svg, root };
}

const pattern = (id, side, turn, line, cls) =>
  `<pattern id="${id}" width="${side}" height="${side}" patternUnits="userSpaceOnUse" ` +
  `patternTransform="rotate(${turn})"><path d="${line}" class="${cls}"/></pattern>`;

/** The hatching of open cells and of lanes that are off, by id; a page defines it once. */
export const PATTERNS =
  pattern("hatch", 7, 45, "M1 0V7", "hatchline") + pattern("off", 9, 45, "M0 0V9", "offline");

/** Epochs as patterns, for paper: each its own direction and distance. */
export const textures = () =>
  [0, 45, 90, 135, 20, 70, 110]
    .map((turn, e) => pattern(`tex${e}`, 5 + e, turn, `M0 0V${5 + e}`, "texture"))
    .join("");

/** The families that the page shows: without the first where its file came too late. */
function familyOnPage(pen) {
  const { fontFamily: all } = getComputedStyle(document.body);
  const probe = Object.assign(document.createElement("span"), { textContent: "Broker 1 mw" });
  probe.style.cssText = "position:absolute;visibility:hidden;font-size:100px;white-space:nowrap";
  document.body.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  pen.font = `100px ${all}`;
  const same = Math.abs(pen.measureText(probe.textContent).width - width) < 1;
  return same ? all : all.replace(/^[^,]*,/, "");
}

/** From now on texts are as wide as this page's letters make them. */
export function measureOnPage() {
  const pen = /** @type {CanvasRenderingContext2D} */ (
    document.createElement("canvas").getContext("2d")
  );
  const family = familyOnPage(pen);
  const known = new Map();
  measureWith((text, size, bold) => {
    const key = `${bold ? 650 : 400} ${size}px|${text}`;
    if (!known.has(key)) {
      pen.font = `${bold ? 650 : 400} ${size}px ${family}`;
      known.set(key, pen.measureText(text).width);
    }
    return known.get(key);
  });
}

/** Rings around what a sentence points at. */
export function light(host, id) {
  if (!host) return;
  for (const el of host.querySelectorAll(".lit")) el.classList.remove("lit");
  for (const el of host.querySelectorAll(".twin")) el.classList.remove("twin");
  if (!id) return;
  // A record lights up wherever else it is.
  const own = /^b-?\d+:o\d+$/.test(id)
    ? host.querySelector(`[data-id="${CSS.escape(id)}"]`)?.dataset.record
    : null;
  if (own)
    for (const el of host.querySelectorAll(`[data-record="${CSS.escape(own)}"]`))
      el.classList.add("twin");
  const record = id.startsWith("rec:") ? `[data-record="${CSS.escape(id.slice(4))}"]` : null;
  const offset = /^o\d+$/.test(id) ? `[data-id$=":${id}"]` : null;
  const epoch = /^e\d+$/.test(id) ? `[data-id$=":${id}"]` : null;
  for (const el of host.querySelectorAll(
    record ?? offset ?? epoch ?? `[data-id="${CSS.escape(id)}"]`,
  ))
    el.classList.add("lit");
}
