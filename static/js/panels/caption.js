// The one text of a run, under its picture: what happened, and at its end the verdict.

import { html } from "htm/preact";

import { captionOf } from "../animator/caption.js";
import { pick } from "../animator/choose.js";
import * as s from "../animator/state.js";
import { judged } from "./common.js";
import { Futures } from "./verdict.js";

/** Kinds of a verdict that are shown from the step on at which they came about. */
const BAD = ["lost", "broken", "gone"];
const LONG = 90; // letters that still take the largest type

/** {words, kind, aside, alarm}: the sentence of a step, in the colour of a verdict where it is one.
 */
function told(step, facts, t) {
  if (!facts.total) return { words: t("step.empty"), kind: "" };
  const { kind, words } = judged(step);
  const last = s.n.value >= facts.total && !s.living.value && !facts.scenario.live;
  if (BAD.includes(kind)) {
    const first = Math.min(
      ...[facts.verdict.lost_at, s.broken.value[0]?.step].filter((n) => n >= 0),
    );
    if (last || step.n === first) return { words, kind, alarm: true };
    return { words: captionOf(step), kind: "", aside: words, tone: kind };
  }
  const teaches = facts.script ? facts.scenario.teaches : "";
  if (last && kind && kind !== "untested") return { words, kind, aside: teaches };
  if (last && teaches) return { words: teaches, kind: "" };
  return { words: captionOf(step), kind: "" };
}

/** Where to go from the end of a run: on along the path, or to other runs. */
function Onward({ t }) {
  const { path } = s.boot.value;
  if (path?.next)
    return html`<a class="btn primary" href=${path.next.href}
      >${t("path.onward", { title: t(`pathstep.${path.next.number}`) })}</a
    >`;
  return path
    ? html`<a class="btn primary" href="/interview">${t("path.interview")}</a>`
    : html`<a href="/">${t("end.next")}</a>`;
}

export function Caption() {
  const t = s.t.value;
  const step = s.step.value;
  const facts = s.facts.value;
  if (!step || !facts) return html`<p class="caption skeleton"></p>`;
  const { words, kind, aside, tone = "", alarm = false } = told(step, facts, t);
  const end = s.n.value >= facts.total && facts.total > 0 && !facts.scenario.live;
  const names = s.broken.value.map((b) => b.invariant).join(" ");
  return html`<p
      class=${`caption ${kind} ${words.length > LONG ? "long" : ""}`}
      role=${alarm ? "alert" : null}
      data-violation=${alarm ? names : null}
      data-end=${end ? kind : null}
    >
      ${words}
    </p>
    <div class="asks">
      ${aside && html`<span class=${`aside ${tone}`} title=${aside}>${aside}</span>`}
      <button type="button" class="jump" id="whynow" onClick=${() => pick("now")}>
        ${t("caption.why")}
      </button>
      ${alarm && names && !s.phone.value && html`<${Futures} />`}
      ${end && html`<${Onward} t=${t} />`}
    </div>`;
}
