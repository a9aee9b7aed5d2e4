// The line in which moves are typed, with what is possible as completion.

import { html } from "htm/preact";
import { useRef, useState } from "preact/hooks";

import { act, loadPossible } from "../animator/acting.js";
import * as s from "../animator/state.js";

export function MoveLine() {
  const t = s.t.value;
  const [text, setText] = useState("");
  const past = useRef([]);
  const send = async (event) => {
    event.preventDefault();
    const move = text.trim();
    if (!move) return;
    past.current.push(move);
    setText("");
    if (!(await act(move))) setText((typed) => typed || move);
  };
  const recall = (event) => {
    if (event.key === "ArrowUp" && text === "" && past.current.length) setText(past.current.at(-1));
    if (event.key === "Escape") event.target.blur();
  };
  return html`<form class="moveline" onSubmit=${send}>
    <label class="sr" for="typed">${t("move.label")}</label>
    <span class="prompt mono" aria-hidden="true">›</span>
    <input
      id="typed"
      class="mono"
      type="text"
      list="movelist"
      autocomplete="off"
      autocapitalize="off"
      spellcheck=${false}
      placeholder=${t("move.hint")}
      value=${text}
      onInput=${(e) => setText(e.target.value)}
      onFocus=${loadPossible}
      onKeyDown=${recall}
    />
    <datalist id="movelist">
      ${s.possible.value.moves
        .filter((m) => m.enabled)
        .map((m) => html`<option key=${m.text} value=${m.text}></option>`)}
    </datalist>
    <button class="btn" type="submit" disabled=${!s.online.value}>${t("move.do")}</button>
  </form>`;
}
