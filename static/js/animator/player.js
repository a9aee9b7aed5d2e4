// Moves over runs: opening, stepping, jumping, playing, acting.  All changes of the cursor pass here.

import { batch } from "@preact/signals";
import * as s from "./state.js";
import { add, branchName, nextSeen, tape, target, wanted } from "../core/history.js";
import { detailTarget } from "../core/detail.js";
import { askAbout, channel } from "../net/asking.js";
import { breakWords } from "../core/breakwords.js";
import { searchBreak } from "./until.js";
import { Refused } from "../net/socket.js";
import * as stage from "./stage.js";

let fetching = null;
let ticket = 0;
let aim = null; // where the cursor is on its way to, while a step is being fetched

const bump = () => {
  s.revision.value += 1;
};

/** Shows why something did not happen; nothing else changes. */
export function complain(problem) {
  const text = problem instanceof Refused ? problem.message : s.t.value("offline.wait");
  const copy = problem.code === "engine" ? problem.args.command : null;
  s.notice.value = { kind: copy ? "bad" : "warn", text, copy };
}

/** Opens what the page was called with, or comes back to it after a loss. */
export async function open(payload, { parent = null, n } = {}) {
  const answer = await channel().ask("open", { ahead: 32, ...payload });
  const known = s.tapes.value.find((one) => one.digest === answer.run);
  batch(() => {
    if (known) add(known, answer.steps);
    else
      s.tapes.value = [
        ...s.tapes.value,
        tape(answer.facts, answer.steps, {
          parent,
          name: null,
          text: payload.text ?? null,
          saved: !payload.text,
        }),
      ];
    s.run.value = answer.run;
    s.n.value = Math.min(n ?? payload.step ?? 0, answer.facts.total);
    bump();
  });
  prefetch();
  return answer;
}

/** Asks for steps around the cursor, then for the rest of a run that is not long. */
export async function prefetch() {
  const on = s.tapeNow.value;
  if (fetching || !on || !channel()?.connected) return;
  const hole =
    wanted(on, s.n.value, 48) ?? (on.facts.total <= 600 ? wanted(on, 0, on.facts.total) : null);
  if (!hole) return;
  const [first, count] = hole;
  fetching =
    first === 0
      ? askAbout(on, "seek", { step: 0 })
      : askAbout(on, "play", { step: first - 1, count });
  try {
    const answer = await fetching;
    add(on, answer.steps);
    bump();
    fetching = null;
    if (answer.steps.length) prefetch();
  } catch (problem) {
    fetching = null;
    if (problem instanceof Refused && problem.code === "slow_down")
      setTimeout(prefetch, problem.args.ms ?? 1000);
  }
}

/** Makes sure a step is known before the cursor goes there. */
async function ensure(n) {
  const on = s.tapeNow.value;
  if (!on || on.steps.has(n)) return true;
  try {
    const answer = await askAbout(on, "seek", { step: n });
    add(on, answer.steps);
    bump();
    return on.steps.has(n);
  } catch (problem) {
    complain(problem);
    return false;
  }
}

/** Goes to a step.  With `motion`, what happened in between is shown happening. */
export async function goTo(n, { motion = false, cue = null, leaveCrumb = false } = {}) {
  const on = s.tapeNow.value;
  if (!on) return;
  const to = Math.min(on.facts.total, Math.max(0, n));
  const mine = ++ticket;
  aim = to;
  const known = await ensure(to);
  if (mine !== ticket) return; // a later wish is not undone by an earlier one
  aim = null;
  if (!known) return;
  const back =
    to < s.n.value ||
    (to === s.n.value && cue !== null && s.cue.value !== null && cue < s.cue.value);
  if (leaveCrumb && to !== s.n.value) s.crumb.value = { run: on.digest, n: s.n.value };
  stage.stop();
  const moving = motion ? hold() : null;
  batch(() => {
    s.n.value = to;
    s.cue.value = cue;
  });
  if (moving) await moving({ back });
  prefetch();
}

/** Keeps the old picture until the cursor has moved, then travels from it. */
function hold() {
  stage.freeze();
  return (how) => stage.travel({ ...how, speed: s.speed.value });
}

/** Where one size on (dir 1) or back (-1) leads: {n, cue}, or null without a run. */
function destination(dir, size) {
  const on = s.tapeNow.value;
  if (!on) return null;
  if (size === "detail")
    return detailTarget((at) => on.steps.get(at), on.facts.total, s.n.value, s.cue.value, dir);
  const from = aim ?? s.n.value;
  return {
    n: size === "event" ? nextSeen(on, from, dir) : target(on.facts, from, size, dir),
    cue: null,
  };
}

/** One size on (dir 1) or back (-1). */
export function stepBy(dir, size = s.size.value) {
  const to = destination(dir, size);
  return to ? goTo(to.n, { motion: true, cue: to.cue }) : Promise.resolve();
}

let beat = 0;

/** Plays on until the end, a violation, or until asked to stop. */
export async function play() {
  if (s.playing.value) {
    pause();
    return;
  }
  const mine = ++beat;
  s.playing.value = true;
  if (s.n.value >= (s.facts.value?.total ?? 0)) await goTo(0);
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
    const rest = (stage.moves() ? 300 : 900) * (here.moment >= 2 ? 2 : 1);
    await new Promise((done) => setTimeout(done, rest / s.speed.value));
  }
  if (mine === beat) s.playing.value = false;
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

/** Makes a move where we are.  In the past it opens a branch; the old future stays. */
export async function act(text) {
  const on = s.tapeNow.value;
  if (!on) return false;
  pause();
  let answer;
  try {
    answer = await askAbout(on, "move", { step: s.n.value, text, ahead: 32 });
  } catch (problem) {
    complain(problem);
    return false;
  }
  s.notice.value = null;
  const at = answer.at;
  const made = tape(
    answer.facts,
    [...on.steps.values()].filter((one) => one.n < at),
    { parent: on, fork: at - 1, text: answer.text ?? null, saved: false },
  );
  add(made, answer.steps);
  made.name = branchName(answer.facts, on);
  batch(() => {
    const known = s.tapes.value.filter((one) => one.digest !== made.digest);
    // A run played on at its end takes the old one's place; only a change of the past is a branch.
    const grown = at > on.facts.total && !on.saved && !known.some((one) => one.parent === on);
    if (grown) Object.assign(made, { parent: on.parent, fork: on.fork, name: on.name });
    s.tapes.value = grown ? known.map((one) => (one === on ? made : one)) : [...known, made];
    s.run.value = made.digest;
    s.cue.value = null;
    bump();
  });
  await goTo(Math.min(at, made.facts.total), { motion: true });
  return true;
}

/** Another branch, at the same step where it has one. */
export function switchTo(digest) {
  const other = s.tapes.value.find((one) => one.digest === digest);
  if (!other) return;
  pause();
  batch(() => {
    s.run.value = digest;
    s.cue.value = null;
    s.n.value = Math.min(s.n.value, other.facts.total);
  });
  ensure(s.n.value).then(prefetch);
}
