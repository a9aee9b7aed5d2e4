// The caption of a step: what the story says there, or the sentence of the step itself.

import { beatAt } from "../core/history.js";
import { countWords, inTurn, plain, versioned } from "../i18n/words.js";
import * as s from "./state.js";

const MOST_WORDS = 20;
const FARTHEST = 200; // steps back to the last one that mattered

/** The first sentences that a caption has room for; at least one. */
function brief(sentences) {
  const kept = [];
  let words = 0;
  for (const one of sentences) {
    words += countWords(one);
    if (kept.length && words > MOST_WORDS) break;
    kept.push(one);
  }
  return inTurn(kept);
}

/** The last step up to this one in which something mattered, else this one. */
function weighty(step) {
  const { steps } = /** @type {Tape} */ (s.tapeNow.value);
  for (let n = step.n; n > step.n - FARTHEST; n -= 1)
    if ((steps.get(n)?.moment ?? 0) >= 2) return steps.get(n);
  return step;
}

const RECENT_MS = 2000; // of the cluster's time: how long a fault or an election is told

/** Under traffic a fault, an election or a loss is told for a while; between them writes are
 *  counted. */
function counted(step) {
  const { facts, steps } = /** @type {Tape} */ (s.tapeNow.value);
  const loud = facts.marks.findLast(([at, kind]) => at <= step.n && kind !== "ack")?.[0];
  const told = loud === undefined ? null : steps.get(loud);
  if (told && step.t - told.t <= RECENT_MS) return told;
  const { sent, acked } = step.view.ledger;
  if (!sent) return step;
  return s.t.value(acked >= sent ? "caption.all" : "caption.some", { n: sent, a: acked });
}

export function captionOf(step) {
  const [at, own] = (s.facts.value && beatAt(s.facts.value, step.n)) ?? [];
  if (at === step.n && own && s.size.value === "story") return inTurn([versioned(s.t.value, own)]);
  const lives = s.facts.value?.scenario.live && s.size.value === "story";
  const found = lives ? counted(step) : s.size.value === "story" ? weighty(step) : step;
  if (typeof found === "string") return found;
  const { say, move } = found;
  const text = (one) => (typeof one === "string" ? one : plain(s.words.value, one, s.env.value));
  return say?.length ? brief(say.map(text)) : move;
}
