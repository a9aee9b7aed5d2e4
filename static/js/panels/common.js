// Small parts that several panels use.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { kept } from "../core/kept.js";
import { inTurn, plain, told } from "../i18n/words.js";

export const Icon = ({ name }) =>
  html`<svg class="icon" aria-hidden="true">
    <use href=${`${kept("/static/icons.svg")}#${name}`} />
  </svg>`;

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

/** What is known at a step: {kind, words}: what is lost by now, or at the end that nothing is; no
 *  kind as long as nothing is decided. */
export function judged(step) {
  const { verdict, total } = s.facts.value;
  const lost = step?.view.ledger?.lost ?? [];
  const broken = (verdict.broken ?? []).some((one) => one.step <= step?.n);
  const kind = lost.length ? "lost" : broken ? "broken" : step?.n >= total ? "held" : "";
  return { kind, words: kind && s.t.value(`end.${kind}`, { m: lost.join(", ") }) };
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
