// Checks: every promise of the protocol, and whether this run has kept it so far.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { knows } from "../i18n/words.js";
import { Icon, Jump, say } from "./common.js";

/** A promise in words; those that only the engine names come from its registry. */
function invariantWords(id, invariants) {
  const key = `inv.${id}`;
  if (knows(s.words.value, key)) return s.t.value(key);
  return invariants.find((one) => one.name === id)?.statement ?? "";
}

/** The promises to users, then what else broke. */
function listed(invariants, broken) {
  const promises = invariants.filter((one) => !one.statistic && !one.mechanism);
  return [...new Set([...promises.map((one) => one.name), ...broken.map((one) => one.invariant)])];
}

export function Checks() {
  const t = s.t.value;
  const facts = s.facts.value;
  const ledger = s.step.value?.view.ledger;
  if (!facts) return null;
  const all = facts.verdict?.broken ?? [];
  const invariants = s.registry.value.invariants ?? [];
  return html`<div class="stack">
    ${
      ledger &&
      html`<dl class="counts">
        ${["sent", "acked", "committed", "seen"].map(
          (key) =>
            ledger[key] !== undefined &&
            html`<div key=${key}>
              <dt>${t(`ledger.${key}`)}</dt>
              <dd>${ledger[key]}</dd>
            </div>`,
        )}
        <div class=${ledger.lost?.length ? "bad" : ""}>
          <dt>${t("ledger.lost")}</dt>
          <dd>
            ${ledger.lost?.length ?? 0}${
              ledger.lost?.length ? html` <span class="mono">${ledger.lost.join(" ")}</span>` : null
            }
          </dd>
        </div>
        ${
          ledger.lost1?.length
            ? html`<div>
                <dt>${t("ledger.lost1")}</dt>
                <dd>${ledger.lost1.length} <span class="mono">${ledger.lost1.join(" ")}</span></dd>
              </div>`
            : null
        }
      </dl>`
    }
    <ul class="checks">
      ${listed(invariants, all).map((id) => {
        const found = all.find((b) => b.invariant === id);
        const now = found && found.step <= s.n.value;
        return html`<li key=${id} class=${now ? "bad" : ""} data-inv=${id}>
          <span class="pill ${now ? "bad" : "ok"}"
            ><${Icon}
              name=${now ? "cross" : "tick"}
            />${now ? t("checks.broken") : t("checks.holds")}</span
          >
          <span class="grow"
            ><span title=${id}>${invariantWords(id, invariants) || id}</span>${
              now ? html`<br /><span class="soft">${say(found.why)}</span>` : null
            }${
              !found && facts.verdict?.counts?.[id]
                ? html`<br /><span class="soft"
                      >${t("checks.counted", { n: facts.verdict.counts[id] })}</span
                    >`
                : null
            }</span
          >
          ${
            found &&
            html`<${Jump} n=${found.step}
              >${t(now ? "checks.at" : "checks.later", { n: found.step })}<//
            >`
          }
        </li>`;
      })}
    </ul>
    <p class="soft">${t("checks.note")}</p>
  </div>`;
}
