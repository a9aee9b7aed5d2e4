// What just happened, in one sentence, what else in smaller ones, and why in another.

import { html } from "htm/preact";

import { moves } from "../animator/stage.js";
import * as s from "../animator/state.js";
import { changedIn, changeList } from "../core/changes.js";
import { partOf } from "../core/partition.js";
import { Told } from "./common.js";

export function Sentence() {
  const t = s.t.value;
  const step = s.step.value;
  const total = s.facts.value?.total ?? 0;
  if (!step)
    return html`<div class="say skeleton">
      <p></p>
      <p></p>
    </div>`;
  const next = s.cue.value === null ? null : s.tapeNow.value.steps.get(s.n.value + 1);
  const shown = next ?? step;
  const chapter = s.chapter.value;
  return html`<section class="say" aria-label=${t("say.label")}>
    <p class="where">
      <span>${where(t)}</span>${step.t > 0 && html`<span>${t("say.time", { ms: step.t })}</span>`}
      ${next && html`<span>${t("say.cue", { i: s.cue.value + 1, k: next.cues.length })}</span>`}
      ${
        !next &&
        step.moment >= 2 &&
        html`<span class="pill ${step.moment === 3 ? "warn" : ""}">${t("say.moment")}</span>`
      }
    </p>
    ${
      chapter?.text &&
      s.n.value > 0 &&
      html`<p class="line" title=${t("now.line")}>
        <code>${chapter.text}</code>${chapter.comment && html`<span>${chapter.comment}</span>`}
      </p>`
    }
    <p class="what">
      ${
        shown.n === 0
          ? t(total ? "step.start" : "step.empty")
          : shown.say?.length
            ? html`<${Told} entry=${shown.say[0]} />`
            : html`<code>${shown.move}</code>`
      }
    </p>
    ${
      shown.n > 0 &&
      shown.say?.length > 1 &&
      html`<p class="more">
        ${shown.say
          .slice(1)
          .map((entry, i) => html`<span key=${i}><${Told} entry=${entry} />${" "}</span>`)}
      </p>`
    }
    ${
      shown.why?.length > 0 &&
      html`<p class="why">
        ${shown.why.map((entry, i) => html`<span key=${i}><${Told} entry=${entry} />${" "}</span>`)}
      </p>`
    }
    <${Changes} />
  </section>`;
}

function where(t) {
  const { total, unfinished } = s.facts.value;
  return t(unfinished ? "say.step.unfinished" : "say.step", { n: s.n.value, total });
}

function Changes() {
  const t = s.t.value;
  const step = s.step.value;
  const before = s.tapeNow.value?.steps.get(s.n.value - 1);
  if (!step?.changed || !before || moves() || s.cue.value !== null) return null;
  const { p } = partOf(step.view, s.partition.value);
  const list = changeList(before, step, changedIn(step.changed, p), p);
  if (!list.length) return null;
  /** @param {{broker?: number | string, field: string}} one */
  const word = ({ broker, field }) =>
    broker === undefined
      ? t(`field.${field}`)
      : t("change.of", { field: t(`field.${field}`), b: s.name.value(broker) });
  return html`<details class="changes">
    <summary>${t("change.count", { n: list.length })}</summary>
    <ul class="plainlist">
      ${list.map(
        (one) =>
          html`<li
            key=${one.ref + one.field}
            onPointerEnter=${() => {
              s.lit.value = one.ref;
            }}
            onPointerLeave=${() => {
              s.lit.value = null;
            }}
          >
            ${word(one)} <span class="mono">${one.was} → <b>${one.now}</b></span>
          </li>`,
      )}
    </ul>
  </details>`;
}
