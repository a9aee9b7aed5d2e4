// One of two runs that are compared: its steps as they are asked for, and the place it is drawn in.

import { changes } from "../core/changes.js";
import { lasting } from "../core/kept.js";
import { cardOf } from "../core/rulecards.js";
import { inTurn, kafka, knows, namer, plain } from "../i18n/words.js";
import { patch, SVG } from "../scene/draw.js";
import { PATTERNS } from "../scene/sheet.js";
import { tanks } from "../scene/tanks/picture.js";
import { offsets } from "./lockstep.js";

const PAGE = 48;
const NARROWEST = 340; // px that three tanks take
const LOWEST = 340; // px
export const SHOWN = 6;

export const make = (tag, cls = "", text = "") =>
  Object.assign(document.createElement(tag), { className: cls, textContent: text });
export const button = (text, act, cls = "") => {
  const b = Object.assign(make("button", `btn ${cls}`, text), { type: "button" });
  b.addEventListener("click", act);
  return b;
};

/** One run: its steps as they are asked for, and the place it is drawn in. */
export function side(letter, facts, { t }) {
  const root = make("section", "side");
  const head = root.appendChild(make("header"));
  head.append(make("h2", "", `${letter} · ${kafka(t, facts.profile)}`));
  const where = head.appendChild(make("span", "soft"));
  const open = head.appendChild(
    Object.assign(make("a", "", t("compare.open", { profile: facts.profile })), {
      href: `/r/${facts.digest}`,
    }),
  );
  const scene = root.appendChild(make("div", "scene"));
  const layers = ["logs", "over"].map((cls) => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", cls);
    scene.append(svg);
    return svg.appendChild(document.createElementNS(SVG, "g"));
  });
  // One definition serves both sides.
  if (letter === "A")
    layers[0].ownerSVGElement.insertAdjacentHTML("afterbegin", `<defs>${PATTERNS}</defs>`);
  layers[1].ownerSVGElement.setAttribute("aria-hidden", "true");
  const what = root.appendChild(make("p", "what"));
  return { facts, root, where, open, scene, layers, what, cards: {}, steps: new Map() };
}

/** The rules of its profile, by id; without them a step is drawn and its rules are not named. */
export async function loadCards(one) {
  const answer = await fetch(lasting(`/api/cards/${encodeURIComponent(one.facts.profile)}`)).catch(
    () => null,
  );
  if (answer?.ok) one.cards = await answer.json();
}

export async function stepOf(one, n) {
  if (!one.steps.has(n)) {
    const answer = await (
      await fetch(`/r/${one.facts.digest}/steps.json?from=${Math.max(0, n - 1)}&count=${PAGE}`)
    ).json();
    if (!answer.ok) throw new Error(answer.sentence ?? "");
    for (const step of answer.steps) one.steps.set(step.n, step);
  }
  const step = one.steps.get(n);
  const before = one.steps.get(n - 1);
  if (before && !step.changed) step.changed = changes(before.view, step.view);
  return step;
}

function sentence(one, step, { words, t }) {
  const env = { t, name: namer(t, step.view.brokers) };
  return step.say.length
    ? inTurn(step.say.map((entry) => plain(words, entry, env)))
    : step.n === 0
      ? t("step.start")
      : step.move;
}

/** What the rules of some cues are called, each once, in the visitor's language. */
function titles(cards, rules, { words, t }) {
  const ids = new Set(rules.map((rule) => cardOf(cards, rule)).filter(Boolean));
  return [...ids].map((id) => (knows(words, `rule.${id}`) ? t(`rule.${id}`) : cards[id].title));
}

export function draw(one, step, goes, language) {
  const { t } = language;
  const name = namer(t, step.view.brokers);
  const width = Math.max(NARROWEST, one.scene.clientWidth);
  const { geo, logs, over } = tanks(step, {
    width,
    height: Math.max(LOWEST, one.scene.clientHeight),
    highest: one.facts.highest,
    t,
    name,
  });
  for (const layer of one.layers) {
    const svg = layer.ownerSVGElement;
    svg.setAttribute("width", geo.width);
    svg.setAttribute("height", geo.height);
    svg.setAttribute("viewBox", `0 0 ${geo.width} ${geo.height}`);
  }
  patch(one.layers[0], logs);
  patch(one.layers[1], over);
  one.where.textContent = t("compare.of", {
    profile: one.facts.profile,
    n: step.n,
    total: one.facts.total,
  });
  one.open.href = `/r/${one.facts.digest}?step=${step.n}`;
  one.what.textContent = goes
    ? sentence(one, step, language)
    : t("compare.idle", { profile: one.facts.profile });
  one.what.classList.toggle("idle", !goes);
  const rules = goes ? [...new Set(step.cues.map((cue) => cue.rule))] : [];
  one.what.title = titles(one.cards, rules, language).join(" · ");
  one.root.dataset.step = step.n;
}

export function told(thing, a, b, name, { words, t }) {
  const [who, field] = thing.replace(/^p\d+\//, "").split(":");
  const state = (v) =>
    ["role", "alive"].includes(field) && knows(words, `${field}.${v}`)
      ? t(`${field}.${v}`)
      : String(v);
  const value = (v) =>
    v === null || v === undefined
      ? "–"
      : Array.isArray(v)
        ? `[${v.map((one) => name(one, true)).join(", ")}]`
        : field === "leader"
          ? v < 0
            ? "–"
            : name(v, true)
          : v === ""
            ? "–"
            : state(v);
  const owner = who === "rec" ? "" : `${name(who.slice(1))} `;
  if (field === "log")
    return `${owner}${t("compare.thing.log")} ${offsets(a, b).slice(0, SHOWN).join(", ")}`;
  return `${owner}${t(`compare.thing.${field}`)} ${value(a)} ≠ ${value(b)}`;
}
