// What is known of a run and how one moves over it.  Pure: no DOM, no socket, no clock.

import { changes, earlier } from "./changes.js";

export const SIZES = ["detail", "event", "moment", "chapter", "story"];

/** A tape: the facts of a run and those of its steps that have arrived. */
export function tape(facts, steps = [], more = {}) {
  // The highest end that any log of a partition has in the whole run.
  const highest = { ...facts.highest };
  const made = { digest: facts.digest, facts, steps: new Map(), highest, ...more };
  return add(made, steps);
}

/** Puts steps on the tape and notes what each changed against the one before it. */
export function add(on, steps) {
  for (const step of steps) {
    if (!on.steps.has(step.n)) on.steps.set(step.n, step);
    for (const part of step.view.partitions)
      for (const r of Object.values(part.replicas))
        on.highest[part.p] = Math.max(on.highest[part.p] ?? 0, r.leo);
  }
  for (const { n } of steps) {
    for (const at of [n, n + 1]) {
      const step = on.steps.get(at);
      const before = on.steps.get(at - 1);
      if (step && before && !step.changed)
        Object.assign(step, {
          changed: changes(before.view, step.view),
          was: earlier(before.view, step.view),
        });
    }
  }
  return on;
}

const after = (list, n, end) => list.find((at) => at > n) ?? end;
const before = (list, n) => list.findLast((at) => at < n) ?? 0;

/** The steps at which something worth stopping for happened, in order, each once. */
export const moments = (facts) =>
  [...new Set(facts.moments ?? facts.marks.map(([n]) => n))].sort((a, b) => a - b);

/** The last step of every line of the script. */
export function chapterEnds(facts) {
  const starts = facts.chapters.map(([n]) => n);
  return [
    ...new Set(
      starts.map((_, i) =>
        i + 1 < starts.length ? Math.max(starts[i], starts[i + 1] - 1) : facts.total,
      ),
    ),
  ].filter((n) => n > 0);
}

/** The steps of the story, in order; the first one is where a run opens. */
export const beats = (facts) => (facts.beats ?? []).map(([n]) => n);

/** The beat that is told at a step: [step, caption] of the last one that is not after it. */
export const beatAt = (facts, n) => (facts.beats ?? []).findLast(([at]) => at <= n) ?? null;

/** The steps at which the story rests: its beats, or in a cluster that lives each write, fault,
 *  election and loss. */
const rests = (facts) => (facts.scenario?.live ? facts.marks.map(([n]) => n) : beats(facts));

/** Where one arrives from step n, one size onwards (dir 1) or back (dir -1). */
export function target(facts, n, size, dir) {
  const clampTo = (v) => Math.min(facts.total, Math.max(0, v));
  if (size === "moment")
    return dir > 0 ? after(moments(facts), n, facts.total) : before(moments(facts), n);
  if (size === "story")
    return dir > 0 ? after(rests(facts), n, facts.total) : before(rests(facts), n);
  if (size === "chapter")
    return dir > 0 ? after(chapterEnds(facts), n, facts.total) : before(chapterEnds(facts), n);
  return clampTo(n + dir);
}

/** Is there nothing to see in this step?  Heartbeats, empty rounds: told in detail size only.
 * @param {Step & {changed?: Set<string>}} step
 * @param {Step} [before] */
export function isQuiet(step, before) {
  if (step.moment > 0 || !step.changed || step.changed.size > 0 || step.broken.length) return false;
  const ids = (one) => one.view.messages.map((m) => m.id).join();
  return before !== undefined && ids(step) === ids(before);
}

/** The next step with something to see; the end of a line always counts, so that no move passes
 *  unseen. */
export function nextSeen(on, n, dir) {
  const { total } = on.facts;
  const ends = new Set([0, ...chapterEnds(on.facts)]);
  for (let at = n + dir; at > 0 && at < total; at += dir) {
    const step = on.steps.get(at);
    if (!step || ends.has(at) || !isQuiet(step, on.steps.get(at - 1))) return at;
  }
  return Math.min(total, Math.max(0, n + dir * Math.max(1, dir > 0 ? total - n : n)));
}

/** The chapter a step belongs to: {line, text, comment} or null before the first. */
export function chapterAt(facts, n) {
  const found = facts.chapters.findLast(([first]) => first <= n);
  if (!found) return null;
  const [first, line, comment] = found;
  return { first, line, text: typeof line === "number" ? facts.moves[line] : line, comment };
}

/** The next hole in what is known, from n on: [first, count], or null when the window is full. */
export function wanted(on, n, ahead = 32) {
  const end = Math.min(on.facts.total, n + ahead);
  for (let at = Math.max(0, n); at <= end; at += 1)
    if (!on.steps.has(at)) return [at, Math.min(32, end - at + 1)];
  return null;
}

/** How a branch is called: by the first move that is its own; one of its parent's moves cut
 *  short is not. */
export function branchName(facts, parent) {
  if (!parent) return null;
  const whole = (move) => move?.replace(/\s+!\d+$/, "") ?? "";
  const own = facts.moves.findIndex((move, i) => whole(move) !== whole(parent.facts.moves[i]));
  return whole(facts.moves[own < 0 ? facts.moves.length - 1 : own]);
}
