// Message surgery: one message in full, and what a hand may do with it.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import { act } from "../animator/acting.js";
import * as s from "../animator/state.js";
import { fitting, surgeryMoves, surgeryText } from "../core/moves.js";
import { valueText } from "../core/values.js";
import { MoveButton } from "./menumoves.js";

function Fields({ id }) {
  const full = s.possible.value.messages?.[id];
  if (!full) return null;
  return html`<dl class="fullfields mono">
    ${Object.entries(full).map(
      ([name, value]) =>
        html`<div key=${name}>
          <dt>${name}</dt>
          <dd>${valueText(value)}</dd>
        </div>`,
    )}
  </dl>`;
}

function Delay({ message, off, why, onDone }) {
  const t = s.t.value;
  const [ms, setMs] = useState(500);
  const send = (event) => {
    event.preventDefault();
    if (off) return;
    onDone?.();
    act(surgeryText("delay", message.way, ms));
  };
  return html`<li>
    <form class="row tight" onSubmit=${send}>
      <button type="submit" class="movebtn" aria-disabled=${off ? "true" : null}>
        ${t("surgery.delay")}</button
      ><input
        type="number"
        min="1"
        max="600000"
        step="1"
        required
        value=${ms}
        aria-label=${t("surgery.ms")}
        onInput=${(e) => setMs(Number(e.target.value))}
      /><span class="soft">ms</span>
    </form>
    ${off && why ? html`<span class="soft">${why}</span>` : null}
  </li>`;
}

/** The menu of one message, instead of the list of moves that concern a node. */
export function Surgery({ message, onDone }) {
  const t = s.t.value;
  const list = surgeryMoves(message, s.possible.value.moves, { behind: t("surgery.behind") });
  const word = (move) => t(`surgery.${move.text.split(" ")[0]}`);
  return html`<${Fields} id=${message.id} />
    <ul class="moves surgery">
      ${fitting(list, message).map((move) =>
        move.text.startsWith("delay")
          ? html`<${Delay}
              key="delay"
              message=${message}
              off=${!move.enabled || !s.online.value}
              why=${move.why}
              onDone=${onDone}
            />`
          : html`<${MoveButton}
              key=${move.text}
              move=${move}
              label=${word(move)}
              onDone=${onDone}
            />`,
      )}
    </ul>
    <p class="soft small">${t("surgery.models")}</p>`;
}
