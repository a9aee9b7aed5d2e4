// What is possible at a step, making a move there, and the branches that come of it.

import { batch, computed, signal } from "@preact/signals";

import { add, branchName, tape } from "../core/history.js";
import { askAbout, channel } from "../net/channel.js";
import { bump, complain, ensure, goTo, prefetch } from "./player.js";
import { pause, playOut } from "./playing.js";
import * as s from "./state.js";

/** @type {((text: string) => boolean) | null} */
let writes = null;

/** From now on a move is handed to `write` instead of being played: an editor puts it down. */
export function divert(write) {
  writes = write;
}

/** What may be done where not every move may: `allows` a move on a run, and all that is `possible`
 *  there.
 * @type {{allows: (on: Tape, text: string) => Promise<boolean>,
 *   possible: (run: string) => Promise<any[]>} | null} */
let rules = null;

/** From now on only the moves of these rules can be made, and only at the end of the run. */
export function limit(made) {
  rules = made;
}

let line = Promise.resolve(true);

/** Makes a move, or several separated by `;`, and plays them out; true once the server has
 *  accepted them.  Moves follow one another: a second one waits for the answer to the first.
 *  `pace`: the move only says who delivers messages, so its run is not listed as a branch.
 *  `quiet`: the page made it, as time passes; it is not taken back by itself. */
export function act(text, { pace = false, quiet = false } = {}) {
  line = line.then(() => make(text, pace, quiet || pace));
  return line;
}

/** Where the page stood before each move of this visit, the last one first.
 * @type {import("@preact/signals").Signal<{tapes: Tape[], run: string, n: number}[]>} */
const before = signal([]);
/** Is there a move, or else a jump, to take back? */
export const lastMove = computed(
  () => before.value.length > 0 || s.crumb.value?.run === s.run.value,
);

/** Takes back the last move, or where there is none the last jump. */
export function undo() {
  const [last, ...rest] = before.value;
  if (!last) {
    const { n } = s.crumb.value ?? {};
    s.crumb.value = null;
    if (n !== undefined) goTo(n);
    return;
  }
  pause();
  batch(() => {
    before.value = rest;
    // Runs that were opened since, and not made by a move, stay.
    const opened = s.tapes.value.filter((one) => !one.moved && !last.tapes.includes(one));
    s.tapes.value = [...last.tapes, ...opened];
    s.run.value = last.run;
    s.n.value = last.n;
    s.cue.value = null;
    s.unfolding.value = null;
    s.notice.value = null;
  });
  ensure(s.n.value).then(prefetch);
}

/** Takes back every move of this visit. */
export function takeBackAll() {
  before.value = before.value.slice(-1);
  if (before.value.length) undo();
}

/** Where the next move begins: at the end of a move that is still being played out, else at the
 *  step on the stage.  In the past a move opens a branch. */
const base = (on) => (rules || s.unfolding.value === on.digest ? on.facts.total : s.n.value);

async function make(text, pace, quiet) {
  const on = s.tapeNow.value;
  if (!on) return false;
  if (writes) return writes(text);
  try {
    if (rules && !(await rules.allows(on, text))) return false;
  } catch (problem) {
    complain(problem); // the next move does not wait for this one
    return false;
  }
  const step = base(on);
  const stood = { tapes: s.tapes.value, run: on.digest, n: step };
  pause();
  let answer;
  try {
    answer = await askAbout(on, "move", { step, text, ahead: 32 });
  } catch (problem) {
    complain(problem);
    return false;
  }
  s.notice.value = null;
  if (!quiet) before.value = [stood, ...before.value];
  const at = answer.at;
  const made = tape(
    answer.facts,
    [...on.steps.values()].filter((one) => one.n < at),
    { parent: on, fork: at - 1, text: answer.text ?? null, saved: false, pace, moved: true },
  );
  add(made, answer.steps);
  made.name = branchName(answer.facts, on);
  batch(() => {
    const known = s.tapes.value.filter((one) => one.digest !== made.digest);
    // A run played on at its end takes the old one's place; only a change of the past is a branch.
    // What lies ahead of what was seen is no past: in a cluster that lives it may change.
    const furthest = on.facts.scenario.live ? (on.seen ?? 0) : on.facts.total;
    const ahead = s.living.value || at > furthest;
    const grown = ahead && !on.saved && !known.some((one) => one.parent === on);
    if (grown) Object.assign(made, { parent: on.parent, fork: on.fork });
    if (grown && !on.pace) made.name = on.name;
    s.tapes.value = grown ? known.map((one) => (one === on ? made : one)) : [...known, made];
    s.run.value = made.digest;
    s.n.value = Math.min(at - 1, made.facts.total);
    s.cue.value = null;
    s.unfolding.value = pace || s.living.value ? null : made.digest;
    bump();
  });
  if (pace) await goTo(Math.min(at, made.facts.total), { motion: true });
  else if (!s.living.value) playOut();
  return true;
}

/** Messages by hand or by the clock, from here on; back again, the run goes on as it was. */
export async function setPace(one) {
  const on = s.tapeNow.value;
  if (!on || (s.step.value?.view.fetching ?? "manual") === one) return;
  if (on.pace && on.parent) switchTo(on.parent.digest, on.fork);
  else if (await act(`fetching ${one}`, { pace: true }))
    s.notice.value = { kind: "ok", text: s.t.value(`title.pace.${one}`) };
}

/** Another branch, at the same step where it has one. */
export function switchTo(digest, n = s.n.value) {
  const other = s.tapes.value.find((one) => one.digest === digest);
  if (!other) return;
  pause();
  batch(() => {
    s.run.value = digest;
    s.cue.value = null;
    s.n.value = Math.min(n, other.facts.total);
  });
  ensure(s.n.value).then(prefetch);
}

/** Fetches the moves of the step we are on, once per step. */
export async function loadPossible() {
  const on = s.tapeNow.value;
  if (!on || !s.online.value) return;
  const key = `${on.digest}@${s.n.value}`;
  if (s.possible.value.key === key) return;
  try {
    const answer = rules
      ? { moves: await rules.possible(on.digest), messages: {} }
      : await channel().ask("possible", { run: on.digest, step: s.n.value });
    if (`${s.run.value}@${s.n.value}` === key)
      s.possible.value = { key, moves: answer.moves, messages: answer.messages };
  } catch {
    /* offline or too fast: asked again with the next step */
  }
}
