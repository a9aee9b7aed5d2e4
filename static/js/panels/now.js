// Now: the rules that acted, line by line, and what comes next.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { nextSeen } from "../core/history.js";
import { Icon, Jump, sayStep } from "./common.js";
import { byCard, RuleCard } from "./rulecard.js";

/** Opened at first: in detail size the card of the cue being told, else the one that matters
 *  most. */
function weightiest(cards, current) {
  const inside = cards.find((card) => card.cues.some((cue) => cue.at === current));
  if (inside) return inside.id;
  const moment = (card) =>
    Math.max(
      ...card.cues.map(
        (cue) => (s.registry.value.rules ?? []).find((one) => one.id === cue.rule)?.moment ?? 0,
      ),
    );
  return cards.reduce(
    (best, card) => (best === null || moment(card) > moment(best) ? card : best),
    null,
  )?.id;
}

/** At the end of a script: the title's question answered, and what one takes along. */
function After({ facts, t }) {
  const after = s.boot.value.after;
  if (!after || !facts.script || !facts.total || facts.scenario.slug !== s.boot.value.scenario.slug)
    return null;
  return html`<section class="after" aria-label=${t("after.label")}>
    <h3>${facts.scenario.title}</h3>
    <p><b>${facts.scenario.teaches}</b></p>
    <h3>${t(after.proves ? "after.proves" : "after.near")}</h3>
    <p class="soft">${after.ask}</p>
    <ul>
      ${after.says.map((one) => html`<li key=${one}>${one}</li>`)}
    </ul>
    <h3>${t("after.operate")}</h3>
    <p>${t(`after.${after.topic}`)}</p>
    ${
      !s.boot.value.path &&
      html`<p>
        <a class="btn" href=${after.next.url}>${t("after.next", { title: after.next.title })}</a>
      </p>`
    }
  </section>`;
}

export function Now() {
  const t = s.t.value;
  const facts = s.facts.value;
  const step = s.step.value;
  if (!step || !facts) return null;
  const coming = s.tapeNow.value.steps.get(s.n.value + 1);
  const inside = s.cue.value !== null && coming;
  const next = s.tapeNow.value.steps.get(nextSeen(s.tapeNow.value, s.n.value, 1));
  const cues = (inside ? coming : step).cues ?? [];
  const cards = byCard(s.cards.value, cues);
  const current = inside ? s.cue.value : null;
  const first = weightiest(cards, current);
  const where = `${facts.digest}:${s.n.value}`;
  const ordered = inside
    ? cards
    : [...cards.filter((card) => card.id === first), ...cards.filter((card) => card.id !== first)];
  return html`<div class="stack">
    ${
      cards.length > 0 &&
      html`<div>
        <h3>${t("now.rules")}</h3>
        ${ordered.map(
          (card) =>
            html`<${RuleCard}
              key=${`${where}:${card.id}:${card.id === first}`}
              id=${card.id}
              cues=${card.cues}
              open=${card.id === first}
              current=${current}
            />`,
        )}
      </div>`
    }
    ${
      step.n === 0 &&
      html`${facts.scenario.teaches && html`<p>${facts.scenario.teaches}</p>`}
        <p class="soft">${t("now.begin")}</p>`
    }
    ${
      next &&
      next !== step &&
      !inside &&
      html`<div class="nextup">
        <h3>${t("now.next")}</h3>
        <p>
          <${Jump} n=${next.n}
            ><${Icon} name="next" />
            ${next.say?.length ? sayStep(next) : html`<code>${next.move}</code>`}<//
          >
        </p>
      </div>`
    }
    ${
      s.n.value >= facts.total &&
      html`<div class="nextup">
        <${After} facts=${facts} t=${t} />
        <h3>${t("now.end")}</h3>
        <p class="soft">${t("now.end_more")}</p>
      </div>`
    }
  </div>`;
}
