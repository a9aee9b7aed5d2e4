// The caption of a step: what the story says there, or the step's own sentence.

import { countWords, inTurn, plain } from "../i18n/words.js";
import * as s from "./state.js";

const MOST_WORDS = 20;

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

export function captionOf(step) {
  if (step.n === s.n.value && s.caption.value) return s.caption.value;
  if (!step.say?.length) return step.move;
  return brief(
    step.say.map((one) => (typeof one === "string" ? one : plain(s.words.value, one, s.env.value))),
  );
}
