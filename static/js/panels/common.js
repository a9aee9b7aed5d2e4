// Small parts that several panels use.

import { html } from "htm/preact";

import { captionOf, hasOwnCaption } from "../animator/caption.js";
import * as s from "../animator/state.js";
import { kept } from "../core/kept.js";
import { inTurn, knows, plain, told } from "../i18n/words.js";

export const Icon = ({ name }) =>
  html`<svg class="icon" aria-hidden="true">
    <use href=${`${kept("/static/icons.svg")}#${name}`} />
  </svg>`;

/** The keys of a list of tabs: arrows, Home and End go from one to another. */
export const tabKeys = (names, current, pick) => (event) => {
  const at = names.indexOf(current);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  pick(names[(to + names.length) % names.length]);
};

/** An entity in a sentence: pointing at it lights its picture, and the reverse. */
function Entity({ text, refId }) {
  const on = () => {
    s.lit.value = refId;
  };
  const off = () => {
    if (s.lit.value === refId) s.lit.value = null;
  };
  return html`<span
    class=${`ent ${s.lit.value === refId ? "lit" : ""}`}
    data-ref=${refId}
    onPointerEnter=${on}
    onPointerLeave=${off}
    >${text}</span
  >`;
}

/** A told sentence with its entities. */
export function Told({ entry }) {
  if (typeof entry === "string") return html`<span>${entry}</span>`;
  return told(s.words.value, entry, s.env.value).map((part, i) =>
    part.ref ? html`<${Entity} key=${i} text=${part.text} refId=${part.ref} />` : part.text,
  );
}

export const say = (entry) =>
  typeof entry === "string" ? entry : plain(s.words.value, entry, s.env.value);

/** All that a step says, as plain text. */
export const sayAll = (step) =>
  step.say?.length
    ? inTurn(step.say.map(say))
    : step.n === 0
      ? s.t.value(s.facts.value?.total ? "step.start" : "step.empty")
      : step.move;

const MOST = 6; // records named; of more only how many

/** Names of records as a list in words. */
function listed(names, t) {
  if (names.length > MOST)
    return t("bad.more", { m: names.slice(0, MOST).join(", "), n: names.length - MOST });
  if (names.length <= 1) return names.join();
  return t("bad.and", { a: names.slice(0, -1).join(", "), b: names.at(-1) });
}

/** The verdict at a step, as the engine gives it: {kind, words}; no kind while nothing is
 *  decided. */
export function judged(step) {
  const { kind = "", key, records = [], kept, fault } = step?.verdict ?? {};
  const t = s.t.value;
  if (!kind) return { kind, words: "" };
  if (!knows(s.words.value, key)) return { kind, words: t("broken.other", { id: key }) };
  const args = { m: listed(records, t), n: kept, fault: fault && t(`through.${fault}`) };
  return { kind, words: t(key, args) };
}

/** Kinds of a verdict that are shown from the step on at which they came about. */
const BAD = ["lost", "broken", "gone"];
const LONG = 90; // letters that still take the largest type
export const isLong = (words) => words.length > LONG;

/** In a level its verdict, once the moves were played out. */
function atLevel(step, facts) {
  const { verdict } = s.level.value;
  if (step.n < facts.total || verdict?.run !== facts.digest)
    return { words: captionOf(step), kind: "" };
  return { words: verdict.say, kind: verdict.done ? "kept" : "" };
}

/** {words, kind, aside, alarm}: the sentence of a step, in the colour of a verdict where it is one.
 */
export function captionAt(step, facts) {
  if (s.level.value) return atLevel(step, facts);
  if (!facts.total) return { words: s.t.value("step.empty"), kind: "" };
  const { kind, words } = judged(step);
  const last = step.n >= facts.total && !s.living.value && !facts.scenario.live;
  if (last && kind && hasOwnCaption(step))
    return { words: captionOf(step), kind, aside: words, tone: kind, alarm: BAD.includes(kind) };
  if (BAD.includes(kind)) {
    const { lost_at: lost = -1, broken = [] } = facts.verdict;
    const decides = step.n === lost || broken.some((one) => one.step === step.n);
    if (last || decides) return { words, kind, alarm: true };
    return { words: captionOf(step), kind: "", aside: words, tone: kind };
  }
  const teaches = facts.script ? facts.scenario.teaches : "";
  if (last && kind && kind !== "untested") return { words, kind, aside: teaches };
  if (last && teaches) return { words: teaches, kind: "" };
  return { words: captionOf(step), kind: "" };
}

/** The one sentence of a step. */
export const sayStep = (step) => sayAll({ ...step, say: step.say?.slice(0, 1) });

export function Jump({ n, children }) {
  return html`<button
    type="button"
    class="jump"
    onClick=${() => import("../animator/player.js").then((p) => p.goTo(n, { leaveCrumb: true }))}
  >
    ${children}
  </button>`;
}
