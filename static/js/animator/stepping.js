// One step on or back, as the buttons and the arrow keys mean it.

import { computed } from "@preact/signals";

import { act } from "./acting.js";
import { stepBy } from "./player.js";
import * as s from "./state.js";

const LONGER = "advance 5s"; // what a step on at the end of a cluster that lives adds

/** Has the cluster's own time begun to pass? */
const lives = () => Boolean(s.facts.value?.scenario.live && s.facts.value.total);
/** Where the clock was let go, there is always more: a step on lets it run to its next event. */
const runs = () => s.tapeNow.value?.pace && s.step.value?.view.fetching === "auto";

/** Does a step on lead nowhere? */
export const atEnd = computed(
  () => s.n.value >= (s.facts.value?.total ?? 0) && !runs() && !lives() && !s.level.value,
);

/** One size on (1) or back (-1); at the end of a run that goes on by itself it is played on. */
export async function onward(dir) {
  const total = s.facts.value?.total;
  if (total === undefined) return;
  s.living.value = false;
  if (dir < 0 || s.n.value < total) await stepBy(dir);
  else if (s.level.value) await s.level.value.pass();
  else if (runs()) await act("+1", { pace: true });
  else if (lives() && (await act(LONGER, { quiet: true }))) await stepBy(1);
}
