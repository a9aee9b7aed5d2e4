// The end of a long run, which is known some time after its first steps.

import { batch } from "@preact/signals";

import { askAbout, channel, Refused } from "../net/channel.js";
import * as s from "./state.js";

/** Fetches the facts of a whole run of which the first steps are shown.  One that cannot be played
 *  to its end stays as it is. */
export async function finish(on) {
  let found = { run: on.digest, facts: { ...on.facts, unfinished: false } };
  try {
    found = await wait(on);
  } catch (problem) {
    if (!(problem instanceof Refused)) found.facts = on.facts; // asked for again when connected
    throw problem;
  } finally {
    batch(() => put(on, found));
  }
}

/** Asks until the run has been played, however long that takes. */
async function wait(on) {
  for (;;) {
    try {
      return await askAbout(on, "open", { step: 0, have: 0, ahead: 0 });
    } catch (problem) {
      const later = !(problem instanceof Refused) || problem.code === "slow_down";
      if (!later || !channel().connected) throw problem;
    }
  }
}

function put(on, found) {
  // A script with a move that cannot be played is another run, up to that move.
  if (found.run !== on.digest) Object.assign(on, { text: found.text, saved: false });
  if (s.run.value === on.digest) s.run.value = found.run;
  const highest = { ...on.highest, ...found.facts.highest };
  Object.assign(on, { digest: found.run, facts: found.facts, highest, ending: null });
  s.tapes.value = [...s.tapes.value];
  s.revision.value += 1;
}
