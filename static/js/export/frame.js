// A picture of the stage as one SVG text that needs nothing else: styles written out, icons inside.

import * as stage from "../animator/stage.js";
import { patch } from "../scene/draw.js";
import { fit } from "../scene/node.js";

const SVG = "http://www.w3.org/2000/svg";
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

const escape = (text) =>
  String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

let pen = null;
const plainColours = new Map();

/** Any colour a browser computes as #rrggbb or rgba(), which every other program reads too. */
function colour(value) {
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

/** The signs of the sprite by name: {viewBox, inside}. */
export async function loadIcons() {
  if (icons) return;
  const text = await (await fetch("/static/icons.svg")).text();
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
  const key = `${above.key}>${el.localName}.${el.getAttribute("class") ?? ""}|${el.getAttribute("font-size") ?? ""}|${el.getAttribute("opacity") ?? ""}`;
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

function written(el, above, memo) {
  if (el.localName === "title") return `<title>${escape(el.textContent)}</title>`;
  const mine = looks(el, above, memo);
  if (mine.said === null) return "";
  if (el.localName === "use") {
    const sign = icons.get((el.getAttribute("href") ?? "").split("#")[1]);
    if (!sign) return "";
    return `<svg${attributes(el, mine.said)} viewBox="${sign.box}"${mine.said}>${sign.inside}</svg>`;
  }
  let inside = "";
  for (const child of el.childNodes)
    inside += child.nodeType === 3 ? escape(child.data) : written(child, mine, memo);
  return `<${el.localName}${attributes(el, mine.said)}${mine.said}>${inside}</${el.localName}>`;
}

const memo = new Map();
let worn = "";
let fills = null;

/** The stage's patterns in this dress, [[id, text]]; a picture carries those it is filled with. */
function patterns(root) {
  fills ??= [...document.querySelectorAll("#stage > svg.logs > defs > *")].map((el) => [
    el.id,
    written(el, root, memo),
  ]);
  return fills;
}

/** A place on the page where a picture can be dressed by the style sheets without being seen. */
function offstage() {
  const stageNow = document.getElementById("stage");
  let place = stageNow.querySelector(".offstage");
  if (!place) {
    place = document.createElement("div");
    place.className = "offstage";
    place.hidden = true;
    for (const cls of ["logs", "over"]) {
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("class", cls);
      svg.append(document.createElementNS(SVG, "g"));
      place.append(svg);
    }
    stageNow.append(place);
  }
  return place;
}

export function clear() {
  document.querySelector("#stage .offstage")?.remove();
}

/** {text, width, height}: a picture {geo, logs, over} with words below it, as an SVG document. */
export function drawing(made, { title, lines, note = "", desc = "", lang = "en" }) {
  const place = offstage();
  const [logs, over] = [...place.querySelectorAll("svg > g")];
  patch(logs, made.logs);
  patch(over, made.over);
  const theme = getComputedStyle(document.body);
  const dress = `${document.documentElement.dataset.theme}${theme.color}`;
  if (dress !== worn) {
    memo.clear();
    fills = null;
    worn = dress;
  }
  const { width } = made.geo;
  const below = lines.map((line) => fit(line, width - 24, 15));
  const height = Math.ceil(made.geo.height + 14 + below.length * 22 + (note ? 20 : 0));
  const root = { key: "", now: {} };
  const drawn = written(logs, root, memo) + written(over, root, memo);
  const defs = patterns(root)
    .filter(([id]) => drawn.includes(`url(#${id})`))
    .map(([, text]) => text)
    .join("");
  const ink = colour(theme.color);
  const family = escape(theme.fontFamily);
  const say = (line, y, size, weight, fill) =>
    `<text x="12" y="${y}" font-family="${family}" font-size="${size}" font-weight="${weight}" fill="${fill}">${escape(line)}</text>`;
  const base = made.geo.height + 24;
  const words = below
    .map((line, i) => say(line, base + i * 22, i ? 14 : 15, i ? 400 : 600, ink))
    .join("");
  const small = note
    ? say(
        fit(note, width - 24, 12),
        base + below.length * 22,
        12,
        400,
        colour(getComputedStyle(document.querySelector(".offstage")).color),
      )
    : "";
  const text = `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" xml:lang="${lang}" role="img"><title>${escape(title)}</title><desc>${escape(desc)}</desc><defs>${defs}</defs><rect width="${width}" height="${height}" fill="${colour(theme.backgroundColor)}"/>${drawn}${words}${small}</svg>`;
  return { text, width, height };
}

/** The picture of a step at a width, dressed. */
export const ofStep = (step, width, words) => drawing(stage.frame(step, width), words);

/** An SVG text as an image that can be painted. */
export async function image(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const img = new Image();
    img.src = url;
    await img.decode();
    return img;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The drawing as a PNG, `scale` times as large. */
export async function png({ text, width, height }, scale = 2) {
  const canvas = new OffscreenCanvas(Math.round(width * scale), Math.round(height * scale));
  canvas.getContext("2d").drawImage(await image(text), 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/png" });
}
