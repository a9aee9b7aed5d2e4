// A picture is a list of plain nodes {k: key, t: tag, a: attributes, x: text, c: children, m:
// motion}. No DOM here: pictures can be computed, compared and mixed anywhere.

import { kept } from "../core/kept.js";

const ICONS = kept("/static/icons.svg");

/** How wide a text is, in px, without a browser: near enough to place what stands beside it. */
function estimate(text, size, bold) {
  let em = 0;
  for (const ch of text) {
    const code = ch.codePointAt(0);
    if (code > 0x2e7f) em += 1;
    else if ("iljft.,:;|!'()[]· ".includes(ch)) em += 0.33;
    else if ("mwMW%@—".includes(ch)) em += 0.9;
    else if (ch >= "A" && ch <= "Z") em += 0.67;
    else em += 0.56;
  }
  return em * size * (bold ? 1.06 : 1);
}

let measure = estimate;

/** A browser knows its fonts: with its own measure every font is placed exactly. */
export function measureWith(exact) {
  measure = exact;
}

export const textWidth = (text, size = 12, bold = false) => measure(String(text), size, bold);

/** The text, or as much of it as fits with an ellipsis. */
export function fit(text, width, size = 12, bold = false) {
  if (textWidth(text, size, bold) <= width) return text;
  let cut = String(text);
  while (cut.length > 1 && textWidth(cut + "…", size, bold) > width) cut = cut.slice(0, -1);
  return cut.trimEnd() + "…";
}

/** What is drawn: an element by its key, kind and attributes, with children or a text.
 * @typedef {{k: string, t: string, a: Record<string, any>, c?: Drawn[], x?: string, m?: any}} Drawn
 */

/** @returns {Drawn} */
const node = (t, k, a, rest = {}) => ({ k, t, a, ...rest });
export const g = (k, c, a = {}, m) => node("g", k, a, { c: c.filter(Boolean), m });
export const rect = (k, x, y, width, height, cls, a = {}, m) =>
  node("rect", k, { class: cls, x, y, width: Math.max(0, width), height, ...a }, { m });
export const line = (k, x1, y1, x2, y2, cls, a = {}) =>
  node("line", k, { class: cls, x1, y1, x2, y2, ...a });
export const path = (k, d, cls, a = {}) => node("path", k, { class: cls, d, ...a });
export const circle = (k, cx, cy, r, cls, a = {}) =>
  node("circle", k, { class: cls, cx, cy, r, ...a });
/** A text; its size in px is a style, since the sheet's own would win over an attribute.
 * @param {string} k @param {number} x @param {number} y @param {unknown} x_ @param {string} cls
 * @param {{size?: number, middle?: boolean, [attribute: string]: unknown}} [how] */
export const text = (k, x, y, x_, cls, { size, middle, ...a } = {}) => {
  const letters = size ? { style: `font-size:${size}px` } : {};
  const anchor = middle ? { "text-anchor": "middle" } : {};
  return node("text", k, { class: cls, x, y, ...letters, ...anchor, ...a }, { x: String(x_) });
};
/** Words of different weight in one line: [[text, class], …]. */
export const spans = (k, x, y, bits, cls, a = {}) =>
  node(
    "text",
    k,
    { class: cls, x, y, ...a },
    { c: bits.map(([x_, c], i) => node("tspan", String(i), { class: c }, { x: String(x_) })) },
  );
export const icon = (k, name, x, y, size, cls = "") =>
  node("use", k, { class: `ic ${cls}`, href: `${ICONS}#${name}`, x, y, width: size, height: size });
export const title = (k, x) => node("title", k, {}, { x });

/** A small label: returns {node, width}.
 * @param {string} k
 * @param {number} x
 * @param {number} y
 * @param {string} label
 * @param {string} cls
 * @param {{size?: number, height?: number, data?: string}} [how] */
export function pill(k, x, y, label, cls, { size = 11.5, height = 20, data } = {}) {
  const width = Math.round(textWidth(label, size, true) + 14);
  const a = data ? { "data-id": data } : {};
  return {
    width,
    node: g(
      k,
      [
        rect("r", x, y, width, height, `pill ${cls}`, { rx: height / 2 }),
        text("t", x + 7, y + height / 2 + size * 0.36, label, `pilltext ${cls}`, {
          "font-size": size,
        }),
      ],
      { class: "pillbox", ...a },
    ),
  };
}

/** Places items {x, width, …} in one row so that none covers another, each as near to its wish
 *  as it can be. */
export function pack(items, gap = 4, from = -Infinity) {
  let edge = from;
  return [...items]
    .sort((p, q) => p.x - q.x)
    .map((item) => {
      const at = Math.max(item.x, edge);
      edge = at + item.width + gap;
      return { ...item, at };
    });
}

/** The class of what belongs to a leader epoch: seven colours in turn. */
export const epochClass = (e) => `e${((e % 7) + 7) % 7}`;
