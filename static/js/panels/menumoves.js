// The moves in the menu of a thing: the usual ones as buttons, all others behind a fold.

import { html } from "htm/preact";

import { act } from "../animator/acting.js";
import { whyNot } from "../animator/asking_why.js";
import * as s from "../animator/state.js";

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

/** Moves that mean the same thing, under what they mean. */
function byMeaning(moves) {
  const found = new Map();
  for (const one of moves) found.set(one.help, [...(found.get(one.help) ?? []), one]);
  return [...found];
}

/** The moves that most visitors look for, by their first word; `cut` and `heal` are those of the
 *  link to the controller. */
const QUICK = ["kill", "power", "pause", "shutdown", "restart", "resume", "cut", "heal"];
const CUTS = /^(cut|heal) \S+ K$/;
const isQuick = ({ text, enabled }) => {
  const [verb] = text.split(" ");
  return enabled && QUICK.includes(verb) && (!/^(cut|heal)/.test(verb) || CUTS.test(text));
};

/** The usual moves as buttons that say what they do. */
const Quick = ({ moves, t, onDone }) =>
  html`<p class="quick">
    ${moves.map(
      (move) =>
        html`<button
          key=${move.text}
          type="button"
          class="btn"
          title=${`${move.text}: ${move.help}`}
          aria-label=${`${t(`verb.${move.text.split(" ")[0]}`)} (${move.text})`}
          onClick=${() => {
            onDone();
            act(move.text);
          }}
        >
          ${t(`verb.${move.text.split(" ")[0]}`)}
        </button>`,
    )}
  </p>`;

/** What can be done: the usual moves, behind a fold all others in words before their commands, and
 *  behind another what cannot be done, with the reason. */
export function Moves({ mine, id, t, onDone }) {
  const quick = /^b/.test(id) && !s.level.value ? mine.filter(isQuick) : [];
  if (!quick.length) return html`<${All} mine=${mine} t=${t} onDone=${onDone} />`;
  return html`<${Quick} moves=${quick} t=${t} onDone=${onDone} />
    <details>
      <summary>${t("menu.more")}</summary>
      <${All} mine=${mine} t=${t} onDone=${onDone} />
    </details>`;
}

const All = ({ mine, t, onDone }) =>
  html`<ul class="plainlist">
      ${byMeaning(mine.filter((m) => m.enabled)).map(
        ([help, same]) =>
          html`<li key=${help}>
            ${same.length > 1 && html`<p>${help}</p>`}
            <ul class="moves">
              ${same.map(
                (m) =>
                  html`<${MoveButton}
                    key=${m.text}
                    move=${m}
                    label=${same.length > 1 ? "" : help}
                    onDone=${onDone}
                  />`,
              )}
            </ul>
          </li>`,
      )}
    </ul>
    ${
      mine.some((m) => !m.enabled) &&
      html`<details>
        <summary>${t("moves.cannot", { n: mine.filter((m) => !m.enabled).length })}</summary>
        <ul class="moves no">
          ${mine
            .filter((m) => !m.enabled)
            .map((m) => html`<${MoveButton} key=${m.text} move=${m} />`)}
        </ul>
      </details>`
    }`;
