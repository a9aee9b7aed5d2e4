// Going on until something: the next moment, chapter or violation, or what a breakpoint waits for.

import { firstHit } from "../core/breaks.js";
import { add, moments, target } from "../core/history.js";
import { askAbout } from "../net/channel.js";
import * as s from "./state.js";

const PAGE = 32;

/** The steps (from, to], asked for where they are not known yet. */
export async function stepsBetween(on, from, to) {
  const found = [];
  for (let n = from + 1; n <= to; n += 1) {
    if (!on.steps.has(n)) {
      const answer =
        n === 0
          ? await askAbout(on, "seek", { step: 0 })
          : await askAbout(on, "play", { step: n - 1, count: Math.min(PAGE, to - n + 1) });
      add(on, answer.steps);
      s.revision.value += 1;
    }
    // What a step changed is known with the step before it only.
    if (!on.steps.get(n)?.changed && n > 0 && !on.steps.has(n - 1))
      add(on, (await askAbout(on, "seek", { step: n - 1 })).steps);
    found.push(on.steps.get(n));
  }
  return found.filter(Boolean);
}

const reached = new Map();

/** The breakpoints, those on a method with the rules that run it under this run's Kafka. */
function resolved(breaks, profile) {
  return Promise.all(
    breaks.map(async (one) => {
      if (one.what !== "method") return one;
      const asked = new URLSearchParams({ name: one.value, profile });
      const key = String(asked);
      if (!reached.has(key)) {
        const answer = await fetch(`/api/lens/method.json?${asked}`);
        if (!answer.ok) return one;
        reached.set(key, (await answer.json()).cues);
      }
      return { ...one, cues: reached.get(key) };
    }),
  );
}

/** The first step in (from, to] at which a breakpoint stops: {step, brk} or null.  Looks in
 *  pages. */
export async function searchBreak(on, from, to) {
  const breaks = await resolved(s.breaks.value, on.facts.profile);
  for (let at = from; at < to; at += PAGE) {
    const found = firstHit(
      await stepsBetween(on, at, Math.min(to, at + PAGE)),
      breaks,
      s.partition.value,
    );
    if (found) return found;
    if (s.run.value !== on.digest) return null;
  }
  return null;
}

/** Where "until" leads from step n: a step, or null when there is none further on. */
export async function untilStep(on, n, what) {
  const { facts } = on;
  if (what === "moment") return moments(facts).find((one) => one > n) ?? null;
  if (what === "chapter") return target(facts, n, "chapter", 1);
  if (what === "violation")
    return (
      (facts.verdict?.broken ?? [])
        .map((one) => one.step)
        .sort((a, b) => a - b)
        .find((one) => one > n) ?? null
    );
  return (await searchBreak(on, n, facts.total))?.step.n ?? null;
}
