// A rule's card: its pseudo-code under this profile, the lines this step went through, who does it
// in Kafka.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { lasting } from "../core/kept.js";
import { cardOf } from "../core/rulecards.js";
import { valueText } from "../core/values.js";
import { knows } from "../i18n/words.js";

let asked = null;

/** Fetches the cards of a profile: once per page and profile. */
export async function loadCards(profile) {
  if (!profile || asked === profile) return;
  asked = profile;
  try {
    const answer = await fetch(lasting(`/api/cards/${encodeURIComponent(profile)}`));
    if (answer.ok && asked === profile) s.cards.value = await answer.json();
    else if (!answer.ok) asked = null;
  } catch {
    asked = null; /* asked again with the next run */
  }
}

/** What a rule or a cue is called, in the visitor's language. */
export function titleOf(id) {
  const name = s.cards.value[id]?.name ?? id;
  if (knows(s.words.value, `rule.${name}`)) return s.t.value(`rule.${name}`);
  const known = (s.registry.value.rules ?? []).find((one) => one.id === id);
  return s.cards.value[id]?.title ?? known?.title ?? "";
}

/** The cues of a step by card, in the order of their first cue: [{id, cues: [{...cue, at}]}]. */
export function byCard(cards, cues) {
  const found = new Map();
  cues.forEach((cue, at) => {
    const id = cardOf(cards, cue.rule) ?? cue.rule;
    found.set(id, [...(found.get(id) ?? []), { ...cue, at }]);
  });
  return [...found].map(([id, mine]) => ({ id, cues: mine }));
}

/** What a cue changed: "2 · hw 0 → 3". */
function Value({ cue, on }) {
  const who =
    cue.node === null || cue.node === undefined || cue.node === "" ? "" : s.name.value(cue.node);
  const changed = (cue.old !== null || cue.new !== null) && String(cue.old) !== String(cue.new);
  const value = changed
    ? `${valueText(cue.old)} → ${valueText(cue.new)}`
    : valueText(cue.new ?? cue.old);
  const what = cue.field ? `${cue.field} ${value}` : "";
  return html`<span class="val ${on ? "on" : ""}"
    >${who}${what ? html` <b>${what}</b>` : null}</span
  >`;
}

/** One rule.  `cues` are those of the step that belong to it; `current` the one told in detail
 *  size. */
export function RuleCard({ id, cues, open, current }) {
  const t = s.t.value;
  const card = s.cards.value[id];
  const taken = (line) => cues.filter((cue) => line[1].includes(cue.rule));
  const told = new Set(card?.lines.flatMap(taken).map((cue) => cue.at));
  const rest = cues.filter((cue) => !told.has(cue.at));
  const on = (cue) => cue.at === current;
  return html`<details class="rulecard" open=${open} data-rule=${id}>
    <summary>
      <code class="rule">${id}</code> <span>${titleOf(id)}</span
      ><span class="brief"
        >${cues.slice(0, 2).map((cue) => html`<${Value} key=${cue.at} cue=${cue} />`)}</span
      >
    </summary>
    ${
      card &&
      html`<ol class="code">
        ${card.lines.map((line, i) => {
          const here = taken(line);
          return html`<li key=${i} class=${here.length ? "taken" : ""}>
            <code style=${`padding-left:${/^ */.exec(line[0])[0].length * 0.55}em`}
              >${line[0].trim()}</code
            >${
              here.length > 0 && html`<span class="sr">${t("card.taken")}</span>`
            }${here.map((cue) => html`<${Value} key=${cue.at} cue=${cue} on=${on(cue)} />`)}
          </li>`;
        })}
      </ol>`
    }
    ${
      rest.length > 0 &&
      html`<p>${rest.map((cue) => html`<${Value} key=${cue.at} cue=${cue} on=${on(cue)} />`)}</p>`
    }
    ${
      card &&
      html`<p class="who">
        ${
          card.outside
            ? t("card.outside")
            : card.kafka.length
              ? card.kafka.map((name) => html`<code key=${name}>${name}</code> `)
              : t("card.nobody_here")
        }
        ${card.kip.map((name) => html`<span key=${name} class="pill">${name}</span> `)}
        <a href=${`/glossary#${id}`}>${t("card.more")}</a>
      </p>`
    }
  </details>`;
}
