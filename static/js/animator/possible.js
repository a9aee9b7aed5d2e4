// What is possible at the step we are on: asked once per step, and only when somebody looks.

import * as s from "./state.js";

let ask = null;
export const useAsk = (asker) => {
  ask = asker;
};

/** Fetches the moves of the step we are on, once per step. */
export async function loadPossible() {
  const on = s.tapeNow.value;
  if (!on || !s.online.value) return;
  const key = `${on.digest}@${s.n.value}`;
  if (s.possible.value.key === key) return;
  try {
    const answer = await ask("possible", { run: on.digest, step: s.n.value });
    if (`${s.run.value}@${s.n.value}` === key)
      s.possible.value = { key, moves: answer.moves, messages: answer.messages };
  } catch {
    /* offline or too fast: asked again with the next step */
  }
}
