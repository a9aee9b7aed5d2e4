// What all charts share: colours and symbols of profiles, and the frame with its downloads.

import { download } from "../../core/dom.js";
import { csv } from "./figures.js";
import { twin } from "./twin.js";

export const SYMBOLS = [
  "circle",
  "square",
  "triangle",
  "diamond",
  "star",
  "cross",
  "wye",
  "asterisk",
];
export const COLOURS = ["var(--p0)", "var(--p1)", "var(--p2)", "var(--p3)"];
export const DASHES = ["none", "6 3", "2 3", "8 3 2 3"];
const SOURCE = 20; // px below a downloaded picture, for what repeats its study
const LETTERS = "12.5px"; // of all charts

/** How wide the widest of some names is, in px, as this page writes them. */
export function widest(names) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${LETTERS} ${getComputedStyle(document.body).fontFamily}`;
  return Math.ceil(Math.max(0, ...names.map((name) => pen.measureText(name).width)));
}

/** The drawn svg as a file of its own: colours are resolved, so that it looks the same
 *  elsewhere. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const source = document.getElementById("source")?.textContent;
  const live = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(live[i]);
    for (const name of ["fill", "stroke"])
      if (node.getAttribute(name)) node.setAttribute(name, style[name]);
    if (node.tagName === "text") node.setAttribute("fill", style.fill);
  });
  if (source) {
    const [x, y, width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
    copy.setAttribute("viewBox", `${x} ${y} ${width} ${height + SOURCE}`);
    copy.setAttribute("height", String(height + SOURCE));
    const line = copy.appendChild(document.createElementNS(copy.namespaceURI, "text"));
    for (const [name, value] of Object.entries({ x: 4, y: height + 12, "font-size": 10 }))
      line.setAttribute(name, String(value));
    line.setAttribute("fill", "gray");
    line.textContent = source;
  }
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "sans-serif");
  return new XMLSerializer().serializeToString(copy);
}

/**
 * Puts a drawing into its figure: one picture with one sentence for those who hear the page, and
 * buttons that give its figures away, a link to it, and its rows as a table.  Inner labels go: on
 * groups without a role they say nothing.
 */
export function show(figure, svg, { sentence, rows, t, name }) {
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", sentence);
  for (const node of svg.querySelectorAll("[aria-label], [aria-hidden]")) {
    node.removeAttribute("aria-label");
    node.removeAttribute("aria-hidden");
  }
  figure.querySelector(".plot").replaceChildren(svg);
  figure.hidden = false;
  let bar = figure.querySelector(".give");
  if (!bar) {
    bar = document.createElement("div");
    bar.className = "give";
    figure.querySelector(".plot").after(bar);
    const save = (ending, type, text) => download(new Blob([text], { type }), `${name}.${ending}`);
    /** @type {[string, () => void][]} */
    const forms = [
      ["csv", () => save("csv", "text/csv", csv(figure.rows))],
      ["svg", () => save("svg", "image/svg+xml", standalone(figure.querySelector(".plot svg")))],
    ];
    for (const [key, act] of forms) {
      const button = Object.assign(document.createElement("button"), {
        type: "button",
        className: "btn quiet",
        textContent: t(`batch.${key}`),
      });
      button.addEventListener("click", act);
      bar.append(button);
    }
    bar.append(
      Object.assign(document.createElement("a"), {
        className: "btn quiet",
        textContent: t("batch.link"),
      }),
    );
  }
  // The address of this very chart, with what its menus say.
  const chosen = [...figure.querySelectorAll("figcaption select")]
    .filter((one) => one.value)
    .map((one) => [`${figure.id}.${one.name}`, one.value]);
  const query = chosen.length ? `?${new URLSearchParams(chosen)}` : "";
  bar.querySelector("a").href = `${location.pathname}${query}#${figure.id}`;
  figure.rows = rows;
  if (!figure.dataset.twin) twin(figure, rows, t);
}
