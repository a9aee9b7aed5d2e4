// Try: the script played in a small stage below the form, with the scene of the animator.

import { batch, effect } from "@preact/signals";
import { html } from "htm/preact";

import { divert } from "../animator/acting.js";
import * as stage from "../animator/stage.js";
import * as s from "../animator/state.js";
import { add, chapterEnds, nextSeen, tape, target } from "../core/history.js";
import { post } from "../core/post.js";
import { kafka } from "../i18n/words.js";
import { Icon } from "../panels/common.js";
import { drawn } from "../panels/menu.js";
import { Choice } from "./fields.js";
import { placeAt, rowsOf, rowsPlayed, scriptOf } from "./model.js";
import { place } from "./promises.js";
import * as e from "./state.js";

const WAIT_MS = 150; // after the text is known to be right, before it is played
let mounted = false;
let played = null; // the text that the stage shows
let written = null; // the row that a press on the stage wrote last
let timer = 0;
let [asked, answered] = [0, 0]; // what the stage shows was asked as number `answered`

/** Plays the text as it is now and shows its first step; what cannot be played is said. */
export const attempt = (profile = null) => e.during(() => shown(profile, () => 0));

/** The cluster lives: what is pressed on it becomes a line; each change of the text is played. */
export function live() {
  divert((move) => {
    const { script } = e.doc.value ?? {};
    if (script === undefined || !e.readable.value) return false;
    const rows = rowsOf(script);
    const at = placeAt(rows, s.facts.value, s.n.value);
    written = at;
    e.change({
      script: scriptOf([
        ...rows.slice(0, at),
        { prefix: "", move, comment: "" },
        ...rows.slice(at),
      ]),
    });
    return true;
  });
  effect(() => {
    if (playable()) again();
  });
}

/** Is there a text that can be read, and is not what the stage shows? */
const playable = () => !e.checking.value && e.readable.value && e.text.value !== played;

function again() {
  clearTimeout(timer);
  timer = setTimeout(follow, WAIT_MS);
}

/** The stage follows the text, at the line that was written last, or where it stands by then. */
async function follow() {
  if (!playable()) return;
  if (e.busy.value) {
    again();
    return;
  }
  const line = written;
  written = null;
  try {
    await shown(null, (facts) => {
      const at =
        line === null ? -1 : rowsPlayed(rowsOf(e.doc.value.script), facts.chapters).indexOf(line);
      if (at >= 0) return endOf(facts, at);
      const before = s.facts.value;
      return !before || s.n.value >= before.total ? facts.total : Math.min(s.n.value, facts.total);
    });
  } catch (problem) {
    written = line;
    if (problem.code === "slow_down") timer = setTimeout(follow, problem.args.ms ?? 1000);
    else e.notice.value = { kind: "warn", text: problem.message || e.t.value("offline.wait") };
  }
}

/** The last step of a chapter. */
function endOf(facts, at) {
  const [first] = facts.chapters[at];
  return chapterEnds(facts).find((n) => n >= first) ?? facts.total;
}

async function shown(profile, where) {
  const wanted = profile ?? s.facts.value?.profile;
  const known = e.doc.value?.profiles ?? [];
  const text = e.text.value;
  const mine = ++asked;
  const said = await post("/api/scenarios/try", {
    yaml: text,
    ...(known.includes(wanted) ? { profile: wanted } : {}),
  });
  if (e.text.value !== text || mine < answered) return; // a later change has its own turn
  answered = mine;
  played = text;
  document.getElementById("trying").hidden = false;
  if (!mounted) {
    stage.mount(document.getElementById("stage"), {
      drawn: (now) => {
        drawn.value = now;
      },
    });
    mounted = true;
  }
  const made = tape(said.facts, said.steps);
  let n;
  do {
    n = where(said.facts);
    await fill(made, n);
    if (mine !== answered) return;
  } while (n !== where(said.facts)); // a step was taken meanwhile
  const grown = s.facts.value && n > s.n.value;
  if (grown) stage.freeze();
  batch(() => {
    s.tapes.value = [made];
    s.run.value = said.run;
    s.n.value = made.steps.has(n) ? n : 0;
    s.cue.value = null;
    s.revision.value += 1;
  });
  document.getElementById("trying").dataset.run = said.run;
  if (grown) stage.travel({ back: false });
  if (said.problem) refused(said.problem);
}

/** A line that can be read but not played has its place, like one that cannot be read. */
function refused(problem) {
  if (problem.script) e.problems.value = [{ ...place(problem.script), ...problem }];
  const line = problem.script ? `${e.t.value("edit.line", { n: problem.script })}: ` : "";
  e.notice.value = { kind: "warn", text: `${line}${problem.sentence}` };
}

async function fill(on, n) {
  if (on.steps.has(n)) return;
  const said = await fetch(`/r/${on.digest}/steps.json?from=${Math.max(0, n - 1)}&count=64`).then(
    (r) => r.json(),
  );
  add(on, said.steps ?? []);
}

async function go(n) {
  const on = s.tapeNow.value;
  const to = Math.max(0, Math.min(on.facts.total, n));
  await fill(on, to);
  if (s.tapeNow.value !== on) return go(n); // the text was played again: the press still counts
  s.revision.value += 1;
  if (!on.steps.has(to)) return;
  const back = to < s.n.value;
  stage.stop();
  stage.freeze();
  s.n.value = to;
  await stage.travel({ back });
}

const step = (dir) => go(nextSeen(s.tapeNow.value, s.n.value, dir));
const nextMoment = () => go(target(s.facts.value, s.n.value, "moment", 1));

export function TryHead() {
  const t = s.t.value;
  const facts = s.facts.value;
  if (!facts) return null;
  const profiles = [...new Set([...(e.doc.value?.profiles ?? []), facts.profile])];
  const button = (icon, label, act) =>
    html`<button type="button" class="btn square" aria-label=${label} title=${label} onClick=${act}>
      <${Icon} name=${icon} />
    </button>`;
  return html`<div class="row tryhead">
    <h2>${t("edit.try")}</h2>
    <${Choice}
      label=${t("title.profile")}
      value=${facts.profile}
      options=${profiles.map((p) => [p, kafka(t, p)])}
      onChange=${(p) => attempt(p)}
    />
    ${button("first", t("time.first"), () => go(0))}${button("prev", t("time.back"), () =>
      step(-1),
    )}${button("next", t("time.on"), () => step(1))}<button
      type="button"
      class="btn"
      onClick=${nextMoment}
    >
      ${t("size.moment")}</button
    >${button("last", t("time.last"), () => go(facts.total))}
    <input
      type="range"
      class="grow"
      min="0"
      max=${facts.total}
      value=${s.n.value}
      aria-label=${t("rail.label")}
      onInput=${(event) => go(Number(event.target.value))}
    />
    <a class="btn" href=${`/r/${facts.digest}`}>${t("edit.animator")}</a>
  </div>`;
}
