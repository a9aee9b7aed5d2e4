// A picture of the stage as one SVG text that needs nothing else: styles written out, icons inside.

import * as stage from "../animator/stage.js";
import { escape } from "../core/dom.js";
import { patch, SVG } from "../scene/draw.js";
import { fit, textWidth } from "../scene/node.js";
import { colour, typeface, written } from "./written.js";

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
  /** @type {HTMLElement | null} */
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

const HEAD = 36;
const TONES = {
  lost: "--bad",
  broken: "--bad",
  gone: "--warn",
  unavailable: "--warn",
  kept: "--ok",
  untested: "--ink2",
};

/** Whose run it is, and its verdict at the right, in the colour of what it says. */
function heading({ title, kind, words }, width, say, place) {
  place.style.color = kind ? `var(${TONES[kind]})` : "";
  const tone = colour(getComputedStyle(place).color);
  place.style.color = "";
  const told = fit(words, width * 0.55, 15, true);
  const far = Math.round(textWidth(told, 15, true)) + 12;
  const called = fit(title, width - far - 28, 16, true);
  return say(called, 24, 16, 650) + (told && say(told, 24, 15, 650, tone, width - far));
}

/** {text, width, height}: a picture {geo, logs, over} with words around it, as an SVG document.
 *  `head`: {title, kind, words} of the line over it; without it there is none. */
export function drawing(made, { title, head, lines, note = "", desc = "", lang = "en" }) {
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
  const top = head ? HEAD : 0;
  const height = Math.ceil(top + made.geo.height + 14 + below.length * 22 + (note ? 20 : 0));
  const root = { key: "", now: {} };
  const drawn = written(logs, root, memo) + written(over, root, memo);
  const defs = patterns(root)
    .filter(([id]) => drawn.includes(`url(#${id})`))
    .map(([, text]) => text)
    .join("");
  const ink = colour(theme.color);
  const family = escape(theme.fontFamily);
  const say = (line, y, size, weight, fill = ink, x = 12) =>
    `<text x="${x}" y="${y}" font-family="${family}" font-size="${size}" ` +
    `font-weight="${weight}" fill="${fill}">${escape(line)}</text>`;
  const base = top + made.geo.height + 24;
  const words = below
    .map((line, i) => say(line, base + i * 22, i ? 14 : 15, i ? 400 : 600))
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
  const size = `width="${width}" height="${height}"`;
  const text = [
    `<svg xmlns="${SVG}" ${size} viewBox="0 0 ${width} ${height}" xml:lang="${lang}" role="img">`,
    `<title>${escape(title)}</title><desc>${escape(desc)}</desc><defs>${defs}</defs>`,
    `<rect ${size} fill="${colour(theme.backgroundColor)}"/>`,
    head ? heading(head, width, say, place) : "",
    `<g transform="translate(0 ${top})">${drawn}</g>${words}${small}</svg>`,
  ].join("");
  return { text, width, height };
}

/** The picture of a step at a width, dressed. */
export const ofStep = (step, width, words) => drawing(stage.frame(step, width), words);

/** An SVG text as an image that can be painted. */
export async function image(text) {
  const dressed = text.replace(">", () => `>${typeface()}`);
  const url = URL.createObjectURL(new Blob([dressed], { type: "image/svg+xml" }));
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
