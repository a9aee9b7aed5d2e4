// One line in which moves are typed: it completes, says what each move does, keeps its history.

import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { act, loadPossible } from "../animator/acting.js";
import { whyNot } from "../animator/asking_why.js";
import * as s from "../animator/state.js";
import { useSheet } from "./more.js";

const past = /** @type {string[]} */ ([]); // moves typed in this visit
const MOST_SHOWN = 60;

/** The moves that the typed text may become; impossible ones last, with their reason. */
function fitting(text) {
  const typed = text.split(";").at(-1).trim().toLowerCase();
  const all = s.possible.value.moves.filter(
    (one) => one.text.toLowerCase().includes(typed) || one.help?.toLowerCase().includes(typed),
  );
  const rank = (one) => Number(!one.enabled) * 2 + Number(!one.text.startsWith(typed));
  return all.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_SHOWN);
}

function Choices({ text, take }) {
  const t = s.t.value;
  return html`<ul class="choices">
    ${fitting(text).map(
      (move) =>
        html`<li key=${move.text}>
          <button
            type="button"
            class=${`movebtn ${move.enabled ? "" : "off"}`}
            title=${move.enabled ? null : t("whynot.move")}
            onClick=${(e) =>
              move.enabled ? take(move.text) : whyNot(`move ${move.text}`, e.currentTarget)}
          >
            <code>${move.text}</code> <span>${move.enabled ? move.help : move.why}</span>
          </button>
        </li>`,
    )}
  </ul>`;
}

function Line({ close }) {
  const t = s.t.value;
  const [text, setText] = useState("");
  const back = useRef(0); // how many moves of the history ago
  const field = useRef(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    loadPossible();
  }, [s.n.value, s.run.value, s.online.value]);
  const send = async (move) => {
    if (!move) return;
    past.push(move);
    back.current = 0;
    setText("");
    if (!(await act(move))) setText((typed) => typed || move);
  };
  const recall = (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way || !past.length) return;
    event.preventDefault();
    back.current = Math.max(0, Math.min(past.length, back.current + way));
    setText(past.at(-back.current || past.length) ?? "");
    if (!back.current) setText("");
  };
  return html`<form
      class="row"
      onSubmit=${(event) => {
        event.preventDefault();
        send(text.trim());
      }}
    >
      <label class="sr" for="typed">${t("move.label")}</label>
      <input
        id="typed"
        class="mono"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck=${false}
        placeholder=${t("move.hint")}
        value=${text}
        ref=${field}
        onInput=${(e) => setText(e.target.value)}
        onKeyDown=${recall}
      />
      <button class="btn primary" type="submit" disabled=${!s.online.value}>${t("move.do")}</button>
      <button class="btn quiet" type="button" onClick=${close}>${t("bad.close")}</button>
    </form>
    <p class="soft">
      ${s.facts.value && s.n.value < s.facts.value.total ? t("moves.branches") : t("moves.here")}
    </p>
    <${Choices} text=${text} take=${send} />`;
}

export function Palette() {
  const { box, open, close, keys } = useSheet("palette");
  if (!open) return null;
  return html`<div
    class="oversheet palette"
    role="dialog"
    aria-label=${s.t.value("tab.moves")}
    ref=${box}
    onKeyDown=${keys}
  >
    <${Line} close=${close} />
  </div>`;
}
