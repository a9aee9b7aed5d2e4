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
const USED = "button, a[href], input, select"; // what a visitor might press
const PICTURE = "#stage .tank, #stage .msg";
const APART = ["stage", "panel", "top"];
const worth = (one) => (one.matches("[role=tab]") ? 5 : 1);
const FAR = 2; // what it costs to stand apart from what is meant
const TOLD = 4; // ... and to cover a log or a message, which the mark is there to explain

/** Beside what it speaks of, where it covers nothing that can be pressed, or the least of it. */
function place(box, target) {
  const to = target.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const [middleX, middleY] = [to.left + to.width / 2, to.top + to.height / 2];
  const used = [...document.querySelectorAll(USED)]
    .filter((one) => !box.contains(one))
    .map((one) => ({ rect: one.getBoundingClientRect(), worth: worth(one) }));
  for (const one of document.querySelectorAll(PICTURE))
    used.push({ rect: one.getBoundingClientRect(), worth: TOLD });
  const stage = document.getElementById("stage").getBoundingClientRect();
  const aside = document.getElementById("caption").getBoundingClientRect();
  const spots = [
    ["below", middleX - width / 2, to.bottom + GAP],
    ["above", middleX - width / 2, to.top - height - GAP],
    ["left", to.left - width - GAP, middleY - height / 2],
    ["right", to.right + GAP, middleY - height / 2],
    ["stage", stage.left + (stage.width - width) / 2, stage.top + stage.height / 4],
    ["panel", aside.left + (aside.width - width) / 2, aside.bottom - height - GAP],
    ["top", stage.left + (stage.width - width) / 2, GAP],
  ].map(([side, x, y]) => {
    const left = Math.max(8, Math.min(innerWidth - width - 8, x));
    const top = Math.max(8, Math.min(innerHeight - height - 8, y));
    const over = (one) =>
      one.left < left + width && one.right > left && one.top < top + height && one.bottom > top;
    const covers = used.reduce((sum, one) => sum + (over(one.rect) ? one.worth : 0), 0);
    const price = (over(to) ? 100 : 0) + (APART.includes(side) ? FAR : 0);
    return { side, left, top, covers: covers + price };
  });
  const best = spots.reduce((a, b) => (b.covers < a.covers ? b : a));
  Object.assign(box.style, { left: `${best.left}px`, top: `${best.top}px` });
  box.dataset.side = best.side;
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
