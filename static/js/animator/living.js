// A cluster that lives: time goes on by itself, half a second at a time, until the reader pauses,
// steps back, or the bounds of a run are reached.

import { effect } from "@preact/signals";

import { sleep } from "../core/debounce.js";
import { stepAt, timeOf } from "../core/rail.js";
import { countWords } from "../i18n/words.js";
import { act } from "./acting.js";
import { captionOf } from "./caption.js";
import { goTo } from "./player.js";
import { SHORTEST_MS, WORD_MS } from "./playing.js";
import * as s from "./state.js";

const BEGIN = "run 10m !1"; // starts producers and consumers
const AHEAD = "advance 20s";
const STRIDE_MS = 500; // of the cluster's time
const PAUSE_MS = 300; // between two strides
const HELD_MS = 150; // how often a held clock looks again
const LONGEST_MS = 600_000; // of the cluster's time
const MOST_STEPS = 9000;

/** The next step to rest at: where something breaks, heals or changes, else half a second on. */
function nextRest({ clock, marks, total }, n) {
  const later = Math.max(n + 1, stepAt(clock, timeOf(clock, n) + STRIDE_MS));
  const mark = marks.find(([at, kind]) => at > n && kind !== "ack");
  return Math.min(total, later, mark?.[0] ?? Infinity);
}

/** Is the run as long as one may be? */
const isFull = ({ total, clock }) =>
  total >= MOST_STEPS || (clock.at(-1)?.[1] ?? 0) >= LONGEST_MS - STRIDE_MS;

/** More time for a run that has been seen to its end; false where there is none. */
async function extend(facts) {
  if (isFull(facts)) {
    s.notice.value = { kind: "ok", text: s.t.value("live.full") };
    return false;
  }
  return act(facts.total ? AHEAD : BEGIN, { quiet: true });
}

async function stride() {
  const { facts } = /** @type {Tape} */ (s.tapeNow.value);
  if (s.n.value >= facts.total) {
    s.living.value = await extend(facts);
    return;
  }
  const to = nextRest(facts, s.n.value);
  await goTo(to, { motion: 1 });
  const loud = facts.marks.some(([at, kind]) => at === to && kind !== "ack");
  const words = loud ? countWords(captionOf(s.step.value)) * WORD_MS : 0;
  await sleep((loud ? Math.max(SHORTEST_MS, words) : PAUSE_MS) / s.speed.value);
}

let running = false;

async function live() {
  if (running) return;
  running = true;
  while (s.living.value) {
    if (s.held.value || document.hidden || !s.online.value) await sleep(HELD_MS);
    else await stride();
  }
  running = false;
}

effect(() => {
  if (s.living.value) live();
});
