// Moves over runs: opening, stepping, jumping, playing, acting.  All changes of the cursor pass
// here.

import { batch } from "@preact/signals";

import { detailTarget } from "../core/detail.js";
import { add, nextSeen, tape, target, wanted } from "../core/history.js";
import { Refused } from "../core/post.js";
import { askAbout, channel } from "../net/channel.js";
import { finish } from "./ending.js";
import { following } from "./room.js";
import * as stage from "./stage.js";
import * as s from "./state.js";

/** @type {Promise<any> | null} */
let fetching = null;
let ticket = 0;
/** Where the cursor is on its way to, while a step is being fetched.
 * @type {number | null} */
let aim = null;

export const bump = () => {
  s.revision.value += 1;
};

/** Shows why something did not happen; nothing else changes. */
export function complain(problem) {
  const text = problem instanceof Refused ? problem.message : s.t.value("offline.wait");
  const copy = problem.code === "engine" ? problem.args.command : null;
  s.notice.value = { kind: copy ? "bad" : "warn", text, copy };
}

/** Opens what the page was called with, or comes back to it after a loss.  Of a long run the first
 *  steps come at once, and its end once the server knows it.
 * @param {{text?: string, step?: number, [more: string]: unknown}} payload
 * @param {{parent?: string | null, n?: number}} [how] */
export async function open(payload, { parent = null, n } = {}) {
  const ahead = following.value ? 0 : 32;
  const answer = await channel().ask("open", { ahead, early: true, ...payload });
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
  const on = s.tapeNow.value;
  if (on?.facts.unfinished) on.ending ??= finish(on).catch(complain).then(prefetch);
  return answer;
}

/** Waits for the end of a run if step `n` lies beyond what is known of it. */
const reached = (on, n) => (n >= on.facts.total ? on.ending : null);

/** Asks for steps around the cursor, then for the rest of a run that is not long. */
export async function prefetch() {
  const on = s.tapeNow.value;
  // Who follows a class is not ahead of it: she may be asked what comes.
  if (fetching || following.value || !on || !channel()?.connected) return;
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
  } catch {
    fetching = null; // asked again with the next step
  }
}

/** Makes sure a step is known before the cursor goes there. */
export async function ensure(n) {
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

/** Goes to a step.  With `motion`, what happened in between is animated, that many times as fast
 *  as usual.
 * @param {number} n
 * @param {{motion?: boolean | number, cue?: number | null, leaveCrumb?: boolean}} [how] */
export async function goTo(n, { motion = false, cue = null, leaveCrumb = false } = {}) {
  const on = s.tapeNow.value;
  if (!on) return;
  const mine = ++ticket;
  if (on.ending) await reached(on, n);
  if (mine !== ticket) return;
  const to = Math.min(on.facts.total, Math.max(0, n));
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
  on.seen = Math.max(on.seen ?? 0, to);
  const moving = motion ? hold(Number(motion)) : null;
  batch(() => {
    if (to < s.n.value) {
      s.unfolding.value = null;
      s.living.value = false;
    }
    s.n.value = to;
    s.cue.value = cue;
  });
  if (moving) await moving({ back });
  prefetch();
}

/** The step at which the run on the stage opens: where its story begins. */
export const opening = () => s.facts.value?.beats?.[0]?.[0] ?? 0;

/** Begins a run whose link names no step: time goes on in a cluster that lives, a story opens at
 *  its first beat. */
export async function begin() {
  if (s.size.value !== "story") return;
  if (!s.facts.value.scenario.live) await goTo(opening());
  else s.living.value = !s.facts.value.total;
}

/** Keeps the old picture until the cursor has moved, then travels from it. */
function hold(haste) {
  stage.freeze();
  return (how) => stage.travel({ ...how, speed: s.speed.value * haste });
}

/** Where one size on (dir 1) or back (-1) leads: {n, cue}, or null without a run. */
export function destination(dir, size) {
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
export async function stepBy(dir, size = s.size.value) {
  const on = s.tapeNow.value;
  if (on?.ending) await reached(on, destination(dir, size)?.n);
  const to = destination(dir, size);
  if (to) await goTo(to.n, { motion: true, cue: to.cue });
}
