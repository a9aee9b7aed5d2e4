// The menu of a thing on the stage: what can be done with it, and what may be asked about it.

import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";

import { loadPossible } from "../animator/acting.js";
import { Surgery, whyNot } from "../animator/asking_why.js";
import { pick } from "../animator/choose.js";
import { goTo } from "../animator/player.js";
import { pause } from "../animator/playing.js";
import * as s from "../animator/state.js";
import { Icon } from "./common.js";
import { Moves } from "./menumoves.js";

export const drawn = signal(null); // what the stage shows at rest
const menu = signal(null); // {id, label, x, y, where}
const here = () => `${s.run.value}@${s.n.value}`;

/** Opens the menu of a thing; moves that are still being played out end first. */
export async function openMenu(thing, target) {
  pause();
  if (s.unfolding.value === s.run.value) await goTo(s.facts.value.total);
  s.held.value = true;
  s.selected.value = thing.id;
  menu.value = { ...thing, from: target, where: here() };
  loadPossible();
}

/** What may be asked about a thing: [words of the button, subject]. */
function asks(id) {
  if (id === "K") return [["whynot.menu.lead", "leader"]];
  const broker = /^b(\d+)$/.exec(id)?.[1];
  if (broker === undefined) return [];
  const who = s.name.value(Number(broker), true);
  return [
    ["whynot.menu.lead", `leader ${who}`],
    ["whynot.menu.isr", `isr ${who}`],
  ];
}

const away = () => {
  menu.value = null;
};

/** The menu goes, and the focus is where it came from. */
function close() {
  const from = menu.value?.from;
  menu.value = null;
  from?.focus({ preventScroll: true });
}

/** The focus goes into an opened menu; whatever is pressed outside, and another step, close it. */
function useClosing(box, at) {
  useEffect(() => {
    if (!at) return undefined;
    box.current?.querySelector("button")?.focus({ preventScroll: true });
    const outside = (event) => {
      if (!box.current?.contains(event.target)) menu.value = null;
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [at?.id]);
  useEffect(() => {
    // The step on which it was opened may be drawn in the same frame: that is no other step.
    if (at && at.where !== here()) menu.value = null;
  }, [here()]);
  useEffect(() => {
    if (!at) s.held.value = false;
  }, [at]);
}

/** The whole menu stays in sight. */
function placeOf(at) {
  if (s.phone.value) return null; // the style sheet puts it over the deck
  const width = drawn.value?.geo.width ?? 600;
  const stage = document.getElementById("stagebox");
  const seen =
    stage.scrollHeight > 2 * innerHeight ? Infinity : stage.scrollTop + stage.clientHeight - 344;
  const top = Math.max(4, Math.min(at.y, seen));
  const left = Math.max(6, Math.min(at.x + at.w + 8, width - 268));
  return `left:${left}px;top:${top}px`;
}

/** Looking at the thing, and asking about it. */
const Foot = ({ at, t }) =>
  html`<p class="row">
    <button
      type="button"
      class="btn"
      onClick=${() => {
        s.selected.value = at.id;
        pick("inspect");
        close();
      }}
    >
      ${t("menu.inspect")}</button
    >${asks(at.id).map(
      ([key, subject]) =>
        html`<button
          key=${key}
          type="button"
          class="btn"
          onClick=${(e) => whyNot(subject, e.currentTarget)}
        >
          ${t(key)}
        </button>`,
    )}
  </p>`;

export function Menu() {
  const t = s.t.value;
  const box = useRef(null);
  const at = menu.value;
  useClosing(box, at);
  if (!at || !s.step.value) return null;
  const ready = s.possible.value.key === here();
  const mine = ready ? s.possible.value.moves.filter((m) => m.about.includes(at.id)) : [];
  const message = s.step.value.view.messages.find((one) => `m${one.id}` === at.id);
  const past = s.facts.value && s.n.value < s.facts.value.total && !s.living.value;
  return html`<div
    class="menu"
    role="dialog"
    aria-label=${at.label}
    ref=${box}
    style=${placeOf(at)}
    onKeyDown=${(e) => {
      if (e.key === "Escape") {
        e.stopPropagation();
        close();
      }
    }}
  >
    <header>
      <h3>${at.label}</h3>
      <button type="button" class="btn quiet square" aria-label=${t("bad.close")} onClick=${close}>
        <${Icon} name="close" />
      </button>
    </header>
    ${past && html`<p class="soft">${t("moves.branches")}</p>`}
    ${!ready && html`<p class="soft">…</p>`}
    ${
      ready &&
      message &&
      html`<${Surgery}
        message=${message}
        onDone=${() => {
          menu.value = null;
        }}
      />`
    }
    <${Moves} mine=${mine} id=${at.id} t=${t} onDone=${away} />
    ${ready && !message && !mine.length && html`<p class="soft">${t("menu.nothing")}</p>`}
    <${Foot} at=${at} t=${t} />
  </div>`;
}
