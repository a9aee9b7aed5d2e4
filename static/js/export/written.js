// An element of the page as SVG text that needs no style sheet: looks written out, icons inside.

import { escape } from "../core/dom.js";
import { kept } from "../core/kept.js";
import { SVG } from "../scene/draw.js";

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "color",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-decoration-line",
  "text-anchor",
  "paint-order",
];
const USUAL = {
  "stroke-width": "1px",
  "stroke-dasharray": "none",
  "stroke-linecap": "butt",
  "stroke-linejoin": "miter",
  opacity: "1",
  "text-decoration-line": "none",
  "text-anchor": "start",
  "paint-order": "normal",
  stroke: "none",
};
const INHERITED = new Set(
  STYLES.filter((name) => name !== "opacity" && name !== "text-decoration-line"),
);
const TEXTUAL = new Set([
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "text-decoration-line",
]);
const NOT_KEPT = /^(class|style|role|tabindex|href|aria-.*|data-.*)$/;

let pen = null;
const plainColours = new Map();

/** Any colour a browser computes as #rrggbb or rgba(), which every other program reads too. */
export function colour(value) {
  if (!/^(color|oklab|oklch|rgba?)\(/.test(value)) return value;
  if (!plainColours.has(value)) {
    pen ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = value;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    const hex = `#${[r, g, b].map((v) => v.toString(16).padStart(2, "0")).join("")}`;
    plainColours.set(
      value,
      a === 255
        ? hex
        : a === 0
          ? "none"
          : `rgba(${r},${g},${b},${Math.round((a / 255) * 100) / 100})`,
    );
  }
  return plainColours.get(value);
}

let icons = null;
let face = "";

/** The typeface as a style for an image, which sees none of the page's own. */
export const typeface = () => face;

async function loadTypeface() {
  /** @type {HTMLLinkElement | null} */
  const link = document.querySelector('link[as="font"]');
  if (!link) return;
  const reader = new FileReader();
  const read = new Promise((done) => {
    reader.onload = done;
  });
  reader.readAsDataURL(await (await fetch(link.href)).blob());
  await read;
  const rule = `font-family:Inter;font-weight:100 900;src:url(${reader.result})`;
  face = `<style>@font-face{${rule}}</style>`;
}

/** Loads the typeface, and the signs of the sprite by name: {viewBox, inside}. */
export async function loadParts() {
  if (icons) return;
  await loadTypeface();
  const text = await (await fetch(kept("/static/icons.svg"))).text();
  const found = new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("symbol");
  icons = new Map(
    [...found].map((one) => [
      one.id,
      { box: one.getAttribute("viewBox"), inside: one.innerHTML.replaceAll(` xmlns="${SVG}"`, "") },
    ]),
  );
}

/** What an element looks like, as attributes; what its parent hands down is not repeated. */
function looks(el, above, memo) {
  const [styled, size, opacity] = ["class", "font-size", "opacity"].map(
    (name) => el.getAttribute(name) ?? "",
  );
  const key = `${above.key}>${el.localName}.${styled}|${size}|${opacity}`;
  let found = memo.get(key);
  if (!found) {
    const computed = getComputedStyle(el);
    const text = el.localName === "text" || el.localName === "tspan";
    const now = {};
    let said = "";
    for (const name of STYLES) {
      if (TEXTUAL.has(name) && !text) continue;
      const value = colour(computed.getPropertyValue(name))
        .replaceAll('url("#', "url(#")
        .replace('")', ")");
      now[name] = value;
      const usual = INHERITED.has(name) ? (above.now[name] ?? USUAL[name]) : USUAL[name];
      if (value !== usual)
        said += ` ${name === "text-decoration-line" ? "text-decoration" : name}="${escape(value)}"`;
    }
    if (computed.getPropertyValue("display") === "none") said = null;
    found = { key, said, now: { ...above.now, ...now } };
    memo.set(key, found);
  }
  return found;
}

function attributes(el, own) {
  let out = "";
  for (const { name, value } of el.attributes)
    if (!NOT_KEPT.test(name) && !own.includes(` ${name}="`)) out += ` ${name}="${escape(value)}"`;
  return out;
}

export function written(el, above, memo) {
  if (el.localName === "title") return `<title>${escape(el.textContent)}</title>`;
  const mine = looks(el, above, memo);
  if (mine.said === null) return "";
  if (el.localName === "use") {
    const sign = icons.get((el.getAttribute("href") ?? "").split("#")[1]);
    if (!sign) return "";
    const own = attributes(el, mine.said);
    return `<svg${own} viewBox="${sign.box}"${mine.said}>${sign.inside}</svg>`;
  }
  let inside = "";
  for (const child of el.childNodes)
    inside += child.nodeType === 3 ? escape(child.data) : written(child, mine, memo);
  return `<${el.localName}${attributes(el, mine.said)}${mine.said}>${inside}</${el.localName}>`;
}
