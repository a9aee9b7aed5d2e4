// A question that a class answers together: who leads asks it, everybody answers once, and how the
// class answered is told when it is closed.  The server says that there is one; this page asks for
// it.

import { effect, signal } from "@preact/signals";

import { complain, goTo } from "../animator/player.js";
import { role } from "../animator/room.js";
import * as s from "../animator/state.js";
import { newest } from "../core/debounce.js";
import { Refused } from "../core/post.js";
import { askAbout, channel } from "../net/channel.js";

const TELL_EVERY_MS = 300;

/** What the class is asked, in this page's language; null while nothing is. */
export const poll = signal(null);
/** Questions that who leads may choose from; null while she has not asked for them. */
export const offered = signal(null);

const looked = newest(async () => {
  const news = s.classroom.value?.poll;
  if (!news || !channel()?.connected) {
    poll.value = null;
    return;
  }
  const known = poll.value;
  // A pupil's page need not read the question again when another pupil has answered.
  if (known?.n === news.n && known.open === news.open && role.value !== "lead") {
    poll.value = { ...known, answers: news.answers };
    return;
  }
  try {
    const told = await channel().ask("asked", {});
    if (told.open && role.value === "follow") forget(told.step);
    poll.value = told;
  } catch (problem) {
    if (problem instanceof Refused) poll.value = null;
  }
}, TELL_EVERY_MS);

/** What comes after a question is nowhere in the page of who answers it. */
function forget(step) {
  for (const { steps } of s.tapes.value)
    for (const n of [...steps.keys()]) if (n > step) steps.delete(n);
}

/** Once for the page: follows what the room tells. */
export function listen() {
  effect(() => {
    void s.classroom.value?.poll;
    void s.online.value;
    looked();
  });
  effect(() => {
    document.body.toggleAttribute("data-polled", poll.value !== null);
  });
}

async function during(work) {
  try {
    return await work();
  } catch (problem) {
    complain(problem);
    return null;
  }
}

/** What could be asked from here on. */
export async function choose() {
  const found = await during(() => askAbout(s.tapeNow.value, "questions", { step: s.n.value }));
  if (found) offered.value = found.questions;
}

/** The class goes to the question's step, and is asked. */
export async function put({ probe, step }) {
  offered.value = null;
  await goTo(step);
  const { room } = s.classroom.value;
  await during(() => askAbout(s.tapeNow.value, "ask", { room, probe }));
}

export const close = () =>
  during(() => channel().ask("ask", { room: s.classroom.value.room, closed: true }));

/** The question is put away, and the class stands where it was decided. */
export async function putAway() {
  const { until } = poll.value;
  await during(() => channel().ask("ask", { room: s.classroom.value.room, done: true }));
  if (until) await goTo(until);
}

/** How sure the one who answers says to be, 1 to 3, or null. */
export const sure = signal(null);

/** {choice} or {by}: the first answer of a browser counts. */
export async function answer(given) {
  if (!poll.value?.open || poll.value.mine || role.value === "lead") return;
  const said = sure.value ? { sure: sure.value } : {};
  const told = await during(() => channel().ask("answer", { n: poll.value.n, ...said, ...given }));
  if (told) {
    poll.value = told;
    sure.value = null;
  }
}
