// The timeline: a rail for every branch, with what happened on it; the one watched is a slider.

import { html } from "htm/preact";
import * as s from "../state.js";
import { chapterAt } from "../history.js";
import { goTo, switchTo } from "../player.js";
import { sayStep } from "./common.js";

const ICONS = { leader: "crown", truncation: "scissors", fault: "cross", heal: "heart", isr: "plusminus", ack: "tick", violation: "alert", divergence: "alert", hw: null };
const FACES = Object.keys(ICONS);

/** Marks so close that they would cover each other stand as one; the gravest gives the face. */
export function merged(marks, total, room = 60) {
  const rank = (kind) => ["violation", "divergence", "leader", "truncation", "fault", "heal", "isr", "ack"].indexOf(kind) + 1 || 99;
  const out = [];
  for (const [n, kind] of [...marks].sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && ((n - last.n) / Math.max(1, total)) * room < 1) {
      last.count += 1;
      if (rank(kind) < rank(last.kind)) { last.kind = kind; last.n = n; }
    } else out.push({ n, kind, count: 1 });
  }
  return out;
}

function Marks({ facts }) {
  const t = s.t.value;
  return html`<div class="marks" aria-hidden="true">${merged(facts.marks.filter(([, kind]) => kind !== "hw" && (FACES.includes(kind))), facts.total).map((mark) => html`<i key=${`${mark.n}${mark.kind}`} class=${`mk ${mark.kind}`} style=${`left:${(100 * mark.n) / Math.max(1, facts.total)}%`} title=${`${mark.n}: ${t(`mark.kind.${mark.kind}`)}${mark.count > 1 ? ` +${mark.count - 1}` : ""}`}><svg class="icon"><use href=${`/static/icons.svg#${ICONS[mark.kind]}`} /></svg></i>`)}</div>`;
}

export function Rail() {
  const t = s.t.value;
  const facts = s.facts.value;
  if (!facts) return html`<div class="rails"></div>`;
  const tapes = s.tapes.value;
  const step = s.step.value;
  const own = chapterAt(facts, s.n.value);
  const value = step ? t("rail.value", { n: s.n.value, total: facts.total, words: sayStep(step) }) : "";
  return html`<div class="rails">
    <div class="rail">
      <${Marks} facts=${facts} />
      <input type="range" min="0" max=${facts.total} value=${s.n.value} aria-label=${t("rail.label")} aria-valuetext=${value} style=${`--at:${(100 * s.n.value) / Math.max(1, facts.total)}%`} onInput=${(e) => goTo(Number(e.target.value))} />
      <div class="ticks" aria-hidden="true">${facts.total <= 400 && facts.chapters.map(([first], i) => html`<i key=${i} style=${`left:${(100 * Math.max(0, first - 1)) / Math.max(1, facts.total)}%`}></i>`)}</div>
      ${own?.text && html`<span class="sr">${own.text}</span>`}
    </div>
    ${tapes.length > 1 && html`<ul class="branches" aria-label=${t("branch.label")}>${tapes.map((one, i) => html`<li key=${one.digest}><button type="button" class="branch" aria-pressed=${one.digest === s.run.value ? "true" : "false"} onClick=${() => switchTo(one.digest)}>
      <span class="letter">${String.fromCharCode(65 + (i % 26))}</span> <code>${one.name ?? (one.parent ? "" : t("branch.main", { profile: one.facts.profile }))}</code>
      ${one.parent ? html`<span class="soft">${t("branch.at", { n: one.fork })}</span>` : null}
      ${one.facts.verdict && !one.facts.verdict.holds ? html`<span class="bad">${[...new Set(one.facts.verdict.broken.map((b) => b.invariant))].join(" ")}</span>` : null}
    </button></li>`)}</ul>`}
  </div>`;
}
