// The caption of a step: what the story says there, or the sentence of the step itself.

import { countWords, inTurn, plain } from "../i18n/words.js";
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

export function captionOf(step) {
  if (step.n === s.n.value && s.caption.value) return s.caption.value;
  const { say, move } = weighty(step);
  const text = (one) => (typeof one === "string" ? one : plain(s.words.value, one, s.env.value));
  return say?.length ? brief(say.map(text)) : move;
}
