// Help: every key, and the legend, a live miniature of the stage with each of its signs numbered.

import { html } from "htm/preact";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { namer } from "../i18n/words.js";
import { patch, SVG } from "../scene/draw.js";
import { SIGNS, STEP } from "../scene/legend.js";
import { tanks } from "../scene/tanks/picture.js";

const KEYS = [
  ["Space", "key.play"],
  ["← →", "key.step"],
  ["Shift ← →", "key.moment"],
  ["[ ]", "key.chapter"],
  ["Home End", "key.ends"],
  ["1 2 3 4", "key.size"],
  ["/", "key.type"],
  [".", "key.time"],
  [".", "key.blank"],
  ["q", "key.ask"],
  ["k r", "key.faults"],
  ["x", "key.cut"],
  ["Enter ← → ↑ ↓ Esc", "key.lane"],
  ["b", "key.break"],
  ["m", "key.bookmark"],
  ["f", "key.full"],
  ["v", "key.view"],
  ["c", "key.compare"],
  ["w", "key.why"],
  ["p", "key.present"],
  ["s", "key.share"],
  ["n", "key.violation"],
  ["{ }", "key.branch"],
  ["u", "key.undo"],
  ["?", "key.help"],
];
const WIDTH = 720;
const HEIGHT = 420; // of tanks

/** Puts help where it opens from, and its legend where paper has it. */
export function ready() {
  const box = document.getElementById("helpbox");
  if (!box.firstChild) render(html`<${Help} />`, box);
}

export function help() {
  ready();
  /** @type {HTMLDialogElement} */ (document.getElementById("help")).showModal();
}

/** The signs that the picture has, each with a number beside it. */
function number(svg) {
  const badges = svg.querySelector(".badges");
  badges.replaceChildren();
  const signs = SIGNS.filter(([, selector]) => svg.querySelector(selector));
  const toPicture = svg.getScreenCTM()?.inverse();
  if (!toPicture) return signs;
  signs.forEach(([, selector, side], i) => {
    const found = svg.querySelector(selector).getBoundingClientRect();
    const a = new DOMPoint(found.left, found.top).matrixTransform(toPicture);
    const b = new DOMPoint(found.right, found.bottom).matrixTransform(toPicture);
    const middle = [(a.x + b.x) / 2, (a.y + b.y) / 2];
    const [x, y] = {
      top: [middle[0], a.y - 8],
      bottom: [middle[0], b.y + 9],
      left: [a.x - 9, middle[1]],
      right: [b.x + 11, middle[1]],
    }[side];
    const badge = document.createElementNS(SVG, "g");
    const number = `<text x="${x}" y="${y + 4}">${i + 1}</text>`;
    badge.innerHTML = `<circle cx="${x}" cy="${y}" r="8.5"/>${number}`;
    badges.append(badge);
  });
  return signs;
}

/** The stage alone has data-ids: what is in the legend stands for nothing that can be pressed. */
function renamed(node) {
  const { "data-id": id, role, "aria-label": label, ...rest } = node.a;
  return {
    ...node,
    a: id ? { ...rest, "data-sign": id } : rest,
    ...(node.c ? { c: node.c.map(renamed) } : {}),
  };
}

/** The stage in small, as the view on the screen draws it; drawn when it can be seen, since only
 *  then its signs have a place. */
function Legend() {
  const t = s.t.value;
  const svg = useRef(null);
  const [signs, setSigns] = useState([]);
  useEffect(() => {
    const draw = () => {
      const env = {
        t,
        name: namer(t, STEP.view.brokers),
        width: WIDTH,
        height: HEIGHT,
        layers: s.layers.value,
      };
      const { geo, logs, over } = tanks(STEP, env);
      svg.current.setAttribute("viewBox", `0 0 ${geo.width} ${geo.height}`);
      patch(svg.current.querySelector(".a"), logs.map(renamed));
      patch(svg.current.querySelector(".b"), over.map(renamed));
      setSigns(number(svg.current));
    };
    const seen = new ResizeObserver(draw);
    seen.observe(svg.current);
    addEventListener("beforeprint", draw);
    return () => {
      seen.disconnect();
      removeEventListener("beforeprint", draw);
    };
  }, [t, s.layers.value]);
  return html`<svg
      class="legendpicture scene"
      ref=${svg}
      role="img"
      aria-label=${t("legend.label")}
    >
      <g class="a"></g>
      <g class="b"></g>
      <g class="badges"></g>
    </svg>
    <ol class="signs">
      ${signs.map(
        ([sign]) => html`<li key=${sign}><b>${t(`sign.${sign}`)}</b> ${t(`sign.${sign}.why`)}</li>`,
      )}
    </ol>`;
}

function Help() {
  const t = s.t.value;
  return html`<dialog id="help" aria-labelledby="helptitle">
      <form method="dialog">
        <header class="row">
          <h2 id="helptitle" class="grow">${t("help.title")}</h2>
          <button class="btn">${t("bad.close")}</button>
        </header>
      </form>
      <section>
        <h3>${t("help.signs")}</h3>
        <${Legend} />
      </section>
      <section>
        <h3>${t("help.keys")}</h3>
        <dl class="keys">
          ${KEYS.map(
            ([key, words]) =>
              html`<div key=${words}>
                <dt>${key.split(" ").map((k) => html`<kbd key=${k}>${k}</kbd> `)}</dt>
                <dd>${t(words)}</dd>
              </div>`,
          )}
        </dl>
        <p class="soft">${t("help.settings")}</p>
      </section>
    </dialog>
    <section class="printlegend" aria-hidden="true">
      <h2>${t("help.signs")}</h2>
      <${Legend} />
    </section>`;
}
