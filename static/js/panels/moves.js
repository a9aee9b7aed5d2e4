// Moves: what is possible here, by group; impossible ones with their reason.

import { html } from "htm/preact";
import { useEffect } from "preact/hooks";

import { act, loadPossible } from "../animator/acting.js";
import { whyNot } from "../animator/asking_why.js";
import * as s from "../animator/state.js";
import { MoveLine } from "./moveline.js";

const GROUPS = ["deliver", "time", "clients", "faults", "admin"];

export function MoveButton({ move, label, onDone }) {
  const t = s.t.value;
  const off = !move.enabled || !s.online.value;
  const why = !s.online.value ? t("offline.wait") : move.why;
  const press = (event) => {
    if (!off) {
      onDone?.();
      act(move.text);
    } else if (!move.enabled && s.online.value) whyNot(`move ${move.text}`, event.currentTarget);
  };
  return html`<li>
    <button
      type="button"
      class=${`movebtn ${off ? "off" : ""}`}
      aria-disabled=${off && move.enabled ? "true" : null}
      title=${move.enabled ? null : t("whynot.move")}
      onClick=${press}
    >
      ${label ? html`${label} ` : null}<code>${move.text}</code></button
    >${!move.enabled && why ? html`<span class="soft">${why}</span>` : null}
  </li>`;
}

export function Moves() {
  const t = s.t.value;
  void s.n.value;
  void s.run.value;
  useEffect(() => {
    const wait = setTimeout(loadPossible, 120);
    return () => clearTimeout(wait);
  }, [s.n.value, s.run.value, s.online.value]);
  const { moves } = s.possible.value;
  const past = s.facts.value && s.n.value < s.facts.value.total;
  return html`<div class="stack">
    ${s.phone.value && html`<${MoveLine} />`}
    <p class="soft">${past ? t("moves.branches") : t("moves.here")}</p>
    <p class="row">
      <a href=${`/r/${s.run.value}/whatif?step=${s.n.value}`}>${t("whatif.link")}</a>
      <a href=${`/explore/${s.run.value}?step=${s.n.value}`}>${t("explore.link")}</a>
    </p>
    ${GROUPS.map((group) => {
      const mine = moves.filter((m) => m.group === group);
      if (!mine.length) return null;
      const can = mine.filter((m) => m.enabled);
      const cannot = mine.filter((m) => !m.enabled);
      return html`<section key=${group}>
        <h3>${t(`moves.${group}`)}</h3>
        <ul class="moves">
          ${can.map((move) => html`<${MoveButton} key=${move.text} move=${move} />`)}
        </ul>
        ${
          cannot.length > 0 &&
          html`<details>
            <summary>${t("moves.cannot", { n: cannot.length })}</summary>
            <ul class="moves no">
              ${cannot.map((move) => html`<${MoveButton} key=${move.text} move=${move} />`)}
            </ul>
          </details>`
        }
      </section>`;
    })}
  </div>`;
}
