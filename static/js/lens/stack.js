// One stack of a step: the rule's name, the lines of pseudo-code that were taken, and the chain of
// calls in one release or in two.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { cardOf } from "../core/rulecards.js";
import { titleOf } from "../panels/rulecard.js";
import { Beside, Source } from "./rows.js";

/** The lines of pseudo-code that this step went through, beside the stack that runs them. */
function Taken({ cues }) {
  const t = s.t.value;
  const lines = cues.flatMap((cue) => {
    const card = s.cards.value[cardOf(s.cards.value, cue.rule)];
    return (card?.lines ?? [])
      .filter((line) => line[1].includes(cue.rule))
      .map((line) => line[0].trim());
  });
  const once = [...new Set(lines)];
  return (
    once.length > 0 &&
    html`<div class="taken">
      <span class="soft">${t("lens.taken")}</span>
      <ol class="code">
        ${once.map((line) => html`<li key=${line} class="taken"><code>${line}</code></li>`)}
      </ol>
    </div>`
  );
}

export function Stack({ at, told, cues, base, children }) {
  const [left, right] = told.releases;
  const one = left.stacks[at];
  const mine = one.cues.map((i) => cues[i]).filter(Boolean);
  return html`<section class="stackbox" data-rule=${one.of}>
    <h3><code class="rule">${one.of}</code> ${titleOf(cardOf(s.cards.value, one.of) ?? one.of)}</h3>
    <${Taken} cues=${mine} />
    ${
      right
        ? html`<${Beside}
            rows=${told.beside[at]}
            left=${left}
            right=${right}
            at=${at}
            base=${base}
          />`
        : html`<${Source} release=${left} stack=${one} base=${base} rule=${one.of} />`
    }
    ${children}
  </section>`;
}
