// Playing on: beat by beat until an end, a violation or a breakpoint, or at once until something
// happens.

import { breakWords } from "../core/breaks.js";
import { sleep } from "../core/debounce.js";
import { countWords } from "../i18n/words.js";
import { captionOf } from "./caption.js";
import { complain, destination, goTo, opening, stepBy } from "./player.js";
import * as stage from "./stage.js";
import * as s from "./state.js";
import { searchBreak, untilStep } from "./until.js";

let beat = 0;

export const WORD_MS = 300; // to read a word
export const SHORTEST_MS = 1500; // a beat of the story stays at least this long

/** How long a step stays while the run plays, ms: in a story as long as its caption is read. */
function restAt(step) {
  if (s.size.value !== "story") return (stage.moves() ? 300 : 900) * (step.moment >= 2 ? 2 : 1);
  return Math.max(SHORTEST_MS, countWords(captionOf(step)) * WORD_MS);
}

/** Plays on until the end, a violation, or until asked to stop. */
export async function play() {
  if (s.living.value || (s.facts.value?.scenario.live && s.n.value >= s.facts.value.total)) {
    s.living.value = !s.living.value;
    return;
  }
  if (s.level.value && !s.playing.value && s.n.value >= s.facts.value.total) {
    await s.level.value.pass();
    return;
  }
  if (s.playing.value) {
    pause();
    s.unfolding.value = null; // the reader wants to stand here
    return;
  }
  const mine = ++beat;
  s.playing.value = true;
  if (s.n.value >= (s.facts.value?.total ?? 0))
    await goTo(s.size.value === "story" ? opening() : 0);
  while (mine === beat && s.playing.value) {
    const at = s.n.value;
    const wasCue = s.cue.value;
    if (await stopAtBreak(at)) break;
    const here = s.step.value;
    if (
      !here ||
      (s.n.value === at && s.cue.value === wasCue) ||
      here.broken?.length ||
      s.n.value >= s.facts.value.total
    )
      break;
    await sleep(restAt(here) / s.speed.value);
  }
  if (mine === beat) s.playing.value = false;
}

const STEP_MS = 700; // a step with its animation, at the usual speed
const PLAYED_OUT_MS = 5000;

/** Plays the rest of the run on the stage, event by event and within some seconds, until its end,
 *  a broken promise, or `pause`. */
export async function playOut() {
  const mine = ++beat;
  const { digest, facts } = /** @type {Tape} */ (s.tapeNow.value);
  const haste = Math.max(1, ((facts.total - s.n.value) * STEP_MS) / PLAYED_OUT_MS);
  s.playing.value = true;
  while (mine === beat && s.unfolding.value === digest && s.n.value < facts.total) {
    const from = s.n.value;
    if (stage.moves()) await goTo(destination(1, "event")?.n ?? from, { motion: haste });
    else await goTo(facts.total);
    if (s.n.value === from || s.step.value?.broken?.length) break;
    await sleep(300 / haste / s.speed.value);
  }
  if (mine !== beat) return;
  s.playing.value = false;
  if (s.n.value >= facts.total) s.unfolding.value = null;
}

/** One beat of playing; true when a breakpoint on the way ends it. */
async function stopAtBreak(from) {
  const on = s.tapeNow.value;
  const to = s.breaks.value.length ? (destination(1, s.size.value)?.n ?? from) : from;
  const found = to > from ? await searchBreak(on, from, to).catch(() => null) : null;
  if (!found) {
    await stepBy(1);
    return false;
  }
  await goTo(found.step.n, { motion: true });
  s.notice.value = {
    kind: "ok",
    text: s.t.value("break.stopped", { what: breakWords(found.brk, s.env.value) }),
  };
  return true;
}

export function pause() {
  beat += 1;
  s.playing.value = false;
}

/** Goes on until something happens; says so when it does not. */
export async function goUntil(what) {
  pause();
  const on = s.tapeNow.value;
  await on?.ending;
  try {
    const n = await untilStep(on, s.n.value, what);
    if (n === null) s.notice.value = { kind: "warn", text: s.t.value("until.never") };
    else if (s.tapeNow.value === on) await goTo(n, { leaveCrumb: true });
  } catch (problem) {
    complain(problem);
  }
}
