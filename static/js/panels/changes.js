// Where nothing moves, what changed is listed: each line lights up what it speaks of.

import { html } from "htm/preact";
import * as s from "../animator/state.js";
import { changeList } from "../core/changes.js";
import { changedIn } from "../core/history.js";
import { partOf } from "../core/partition.js";
import { moves } from "../animator/stage.js";

export function Changes() {
  const t = s.t.value;
  const step = s.step.value;
  const before = s.tapeNow.value?.steps.get(s.n.value - 1);
  if (!step?.changed || !before || moves() || s.cue.value !== null) return null;
  const { p } = partOf(step.view, s.partition.value);
  const list = changeList(before, step, changedIn(step.changed, p), p);
  if (!list.length) return null;
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
