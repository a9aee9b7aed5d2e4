// The way through a run: its beats as dots, or its steps on a slider with what happened on it.

import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { captionOf } from "../animator/caption.js";
import { goTo } from "../animator/player.js";
import * as s from "../animator/state.js";
import { beats } from "../core/history.js";
import { kept } from "../core/kept.js";
import { merged, railSpace } from "../core/rail.js";
import { sayStep } from "./common.js";
import { Futures } from "./noreturn.js";

const ICONS = {
  leader: "crown",
  truncation: "scissors",
  fault: "cross",
  heal: "heart",
  isr: "plusminus",
  ack: "tick",
  violation: "alert",
  divergence: "alert",
  bookmark: "flag",
};
const MARK = 21; // px a mark takes
const MOST_DOTS = 14;

function Marks({ facts, space, width }) {
  const t = s.t.value;
  const marks = [
    ...facts.marks.filter(([, kind]) => kind in ICONS),
    ...s.bookmarks.value.filter((n) => n <= facts.total).map((n) => [n, "bookmark"]),
  ];
  const told = ({ n, kind, count }) =>
    `${n}: ${t(`mark.kind.${kind}`)}${count > 1 ? ` +${count - 1}` : ""}`;
  return html`<div class="marks" aria-hidden="true">
    ${merged(marks, space, Math.max(8, width / MARK)).map(
      (mark) =>
        html`<i
          key=${`${mark.n}${mark.kind}`}
          class=${`mk ${mark.kind}`}
          style=${`left:${(100 * mark.x).toFixed(3)}%`}
          title=${told(mark)}
          ><svg class="icon"><use href=${`${kept("/static/icons.svg")}#${ICONS[mark.kind]}`} /></svg
          >${mark.count > 1 && html`<b>${mark.count}</b>`}</i
        >`,
    )}
  </div>`;
}

/** The facts of a run up to a step: while time goes on, nothing is shown of what is to come. */
const soFar = (facts, n) => ({
  ...facts,
  total: n,
  marks: facts.marks.filter(([at]) => at <= n),
  chapters: facts.chapters.filter(([at]) => at <= n),
});

/** The beats of a story as dots; the slider over them goes from one to the next. */
function dotsOf(facts) {
  if (s.size.value !== "story" || s.byTime.value || facts.scenario.live) return null;
  const at = [...new Set([...beats(facts), facts.total])].sort((a, b) => a - b);
  if (at.length < 2 || at.length > MOST_DOTS) return null;
  const of = (n) =>
    Math.max(
      0,
      at.findLastIndex((one) => one <= n),
    );
  return { at, max: at.length - 1, of, step: (v) => at[v] };
}

function Dots({ dots, facts }) {
  const here = dots.of(s.n.value);
  const lost = facts.verdict?.lost_at ?? -1;
  return html`<div class="beats" aria-hidden="true">
    ${dots.at.map(
      (n, i) =>
        html`<i
          key=${n}
          class=${[i < here && "past", i === here && "here", lost >= 0 && n >= lost && "bad"]
            .filter(Boolean)
            .join(" ")}
          style=${`left:${((100 * i) / dots.max).toFixed(2)}%`}
        ></i>`,
    )}
  </div>`;
}

export function Rail() {
  const t = s.t.value;
  const facts = s.living.value ? soFar(s.facts.value, s.n.value) : s.facts.value;
  const box = useRef(null);
  const [width, setWidth] = useState(1200);
  const dragged = useRef(false); // a drag is one jump, however many steps it passes
  useEffect(() => {
    if (!box.current) return undefined;
    const seen = new ResizeObserver(() => setWidth(box.current?.clientWidth || 1200));
    seen.observe(box.current);
    return () => seen.disconnect();
  }, [Boolean(facts)]);
  if (!facts) return html`<div class="rail"></div>`;
  const step = s.step.value;
  const dots = dotsOf(facts);
  const space = dots ?? railSpace(facts, s.byTime.value);
  const percent = (n) => (100 * space.of(n)) / Math.max(1, space.max);
  const value = !step
    ? ""
    : dots
      ? t("rail.beat", { i: dots.of(s.n.value) + 1, k: dots.at.length, words: captionOf(step) })
      : t(facts.unfinished ? "live.step" : "rail.value", {
          n: s.n.value,
          total: facts.total,
          words: sayStep(step),
        });
  const looks = `rail ${dots ? "dotted" : ""} ${facts.unfinished ? "unfinished" : ""}`;
  return html`<div class=${looks} ref=${box}>
    <${Futures} place=${percent} />
    ${
      dots
        ? html`<${Dots} dots=${dots} facts=${facts} />`
        : html`<${Marks} facts=${facts} space=${space} width=${width} />`
    }
    <input
      type="range"
      min="0"
      max=${space.max}
      value=${space.of(s.n.value)}
      aria-label=${t("rail.label")}
      aria-valuetext=${value}
      data-total=${facts.total}
      style=${`--at:${percent(s.n.value).toFixed(3)}%`}
      onKeyDown=${nudge}
      onInput=${(e) => {
        const n = space.step(Number(e.target.value));
        const jump = !dragged.current && Math.abs(n - s.n.value) > 1;
        dragged.current ||= jump;
        goTo(n, { leaveCrumb: jump });
      }}
      onChange=${() => {
        dragged.current = false;
      }}
    />
  </div>`;
}

/** Spaced by time, an arrow still means a step. */
function nudge(event) {
  const dir = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (!dir || !s.byTime.value || event.shiftKey) return;
  event.preventDefault();
  event.stopPropagation();
  goTo(s.n.value + dir);
}
