// The end of a long run, which is known some time after its first steps.

import { batch } from "@preact/signals";

import { sleep } from "../core/debounce.js";
import { Refused } from "../core/post.js";
import { channel, nameOf } from "../net/channel.js";
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

/** Asks until the run has been played, beside the live channel: its answers keep their order. */
async function wait(on) {
  for (;;) {
    const response = await fetch(`/r/${on.digest}/facts.json?lang=${s.lang.value}`);
    const answer = await response.json();
    if (answer.ok) return answer;
    if (answer.code === "gone") await channel().ask("open", { ...nameOf(on), early: true });
    else if (answer.code === "slow_down") await sleep(answer.args.ms);
    else throw new Refused(answer);
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
