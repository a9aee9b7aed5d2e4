// Four marks on the first visit: where to press, what to read, how to break something, how to
// share. They cover nothing one needs, can be skipped at any time, and never come again.

import { effect, signal } from "@preact/signals";
import { html } from "htm/preact";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";

import * as s from "../animator/state.js";

const MARKS = [
  ["step", "#transport > :nth-child(1) > :nth-child(3)"],
  ["sentence", "#caption .caption"],
  ["break", "#breakit"],
  ["share", "#sharing"],
];
const FIRST_PRESS = 2; // where there is no step to go to, the marks begin with what makes one
const OPEN = "dialog[open], :popover-open, .menu, .oversheet"; // what Escape closes first
const at = signal(-1); // which mark stands; -1: none
let marks = MARKS;

/** Puts up the first mark. */
export function begin() {
  const box = document.getElementById("coachbox");
  if (!box.firstChild) render(html`<${Coach} />`, box);
  marks = s.facts.value?.total ? MARKS : MARKS.slice(FIRST_PRESS);
  at.value = 0;
}

function end() {
  s.remember("coached", "1");
  at.value = -1;
}

const on = () => {
  if (at.value + 1 < marks.length) at.value += 1;
  else end();
};

const GAP = 12; // px between a mark and what it speaks of

/** Over what it speaks of where there is room, else under it; within the window. */
function place(box, target) {
  const to = target.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const above = to.top - height - GAP;
  const left = Math.max(8, Math.min(innerWidth - width - 8, to.left + (to.width - width) / 2));
  Object.assign(box.style, { left: `${left}px`, top: `${above >= 8 ? above : to.bottom + GAP}px` });
}

function Coach() {
  const t = s.t.value;
  const box = useRef(null);
  const which = at.value;
  void s.n.value;
  useEffect(() => {
    if (which < 0 || !box.current) return undefined;
    const target = document.querySelector(marks[which][1]);
    if (!target) return undefined;
    const { top, bottom } = target.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) target.scrollIntoView({ block: "nearest" });
    const fit = () => place(box.current, target);
    fit();
    target.classList.add("coached");
    addEventListener("resize", fit);
    addEventListener("scroll", fit, true);
    return () => {
      target.classList.remove("coached");
      removeEventListener("resize", fit);
      removeEventListener("scroll", fit, true);
    };
  });
  useEffect(() => {
    // The marks come last in the order of tabs: the key that puts them away works from anywhere.
    const away = (event) => {
      if (
        event.key === "Escape" &&
        !event.defaultPrevented &&
        at.peek() >= 0 &&
        !document.querySelector(OPEN)
      )
        end();
    };
    addEventListener("keydown", away);
    return () => {
      removeEventListener("keydown", away);
    };
  }, []);
  // Doing what the first mark asks for is as good as pressing its button.
  useEffect(
    () =>
      effect(() => {
        if (s.n.value > 0 && at.peek() === 0) at.value = 1;
      }),
    [],
  );
  if (which < 0) return null;
  const [name] = marks[which];
  return html`<aside
    class="coach"
    ref=${box}
    role="note"
    aria-label=${t("coach.label", { n: which + 1, k: marks.length })}
  >
    <p><b>${t(`coach.${name}`)}</b></p>
    <p>${t(`coach.${name}.why`)}</p>
    <p class="row">
      <span class="soft grow">${which + 1} / ${marks.length}</span
      ><button type="button" class="btn quiet" onClick=${end}>${t("coach.skip")}</button
      ><button type="button" class="btn primary" onClick=${on}>
        ${t(which + 1 < marks.length ? "coach.next" : "coach.end")}
      </button>
    </p>
  </aside>`;
}
