// Going on until something happens, without playing what lies between.

import * as s from "./state.js";
import { complain, goTo, pause } from "./player.js";
import { untilStep } from "./until.js";

/** Goes on until something happens; says so when it does not. */
export async function goUntil(what) {
  pause();
  const on = s.tapeNow.value;
  try {
    const n = await untilStep(on, s.n.value, what);
    if (n === null) s.notice.value = { kind: "warn", text: s.t.value("until.never") };
    else if (s.tapeNow.value === on) await goTo(n, { leaveCrumb: true });
  } catch (problem) {
    complain(problem);
  }
}
