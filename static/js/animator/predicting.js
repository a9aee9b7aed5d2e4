// Predict: what comes next is asked in the place of the stage.  Until that is over this page holds
// no step of the run, no mark and no verdict: it knows the run by its name, and asks for it again.

import { batch } from "@preact/signals";

import { Refused } from "../core/post.js";
import { nameOf } from "../net/channel.js";
import { complain, goTo, open } from "./player.js";
import { pause } from "./playing.js";
import * as stage from "./stage.js";
import * as s from "./state.js";

/** Can it be asked here?  A class is asked by who leads it, and a page without a connection could
 *  not come back to its run. */
export const can = () => Boolean(s.online.value && s.tapeNow.value && !s.classroom.value);

/** Of a run what it takes to open it again, and nothing that happens in it.
 * @param {Tape} tape */
const putAway = ({ digest, facts, parent, fork, name, text, saved, pace }) => ({
  digest,
  more: { parent: parent?.digest ?? null, fork, name, text, saved, pace },
  called: nameOf({ text, facts }),
});

/** Puts away all that the page knows of what comes, and asks. */
export function begin() {
  const on = /** @type {Tape} */ (s.tapeNow.value);
  pause();
  stage.stop();
  batch(() => {
    s.predicting.value = { run: on.digest, n: s.n.value, runs: s.tapes.value.map(putAway) };
    s.tapes.value = [];
    s.run.value = null;
    s.cue.value = null;
    s.crumb.value = null;
    s.notice.value = null;
    s.possible.value = { key: null, moves: [] };
    s.dashboard.value = { key: null };
  });
  document.body.toggleAttribute("data-predicting", true);
}

async function reopen({ digest, called }, n) {
  try {
    await open({ run: digest, step: n });
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem;
    await open({ ...called, step: n });
  }
}

/** Opens everything again; with `played`, {from, to}, goes on from there, else stands where it
 *  was.
 * @param {{from: number, to: number} | null} [played] */
export async function end(played = null) {
  const was = s.predicting.value;
  if (!was || was.ending) return;
  was.ending = true;
  try {
    const last = (one) => one.digest === was.run;
    for (const one of [...was.runs].sort((a, b) => Number(last(a)) - Number(last(b))))
      await reopen(one, last(one) ? (played?.from ?? was.n) : 0);
    const byDigest = (digest) => s.tapes.value.find((one) => one.digest === digest) ?? null;
    for (const { digest, more } of was.runs)
      Object.assign(byDigest(digest) ?? {}, more, { parent: byDigest(more.parent) });
  } catch (problem) {
    was.ending = false;
    s.tapes.value = [];
    complain(problem);
    return;
  }
  s.predicting.value = null;
  document.body.toggleAttribute("data-predicting", false);
  if (played) await goTo(played.to, { motion: true });
}
