// Leading a class: the page tells it where it is.

import { complain } from "../animator/player.js";
import { keep, put, role } from "../animator/room.js";
import * as s from "../animator/state.js";
import { newest } from "../core/debounce.js";
import { Refused } from "../core/post.js";
import { askAbout, channel } from "../net/channel.js";

const TELL_EVERY_MS = 250;

// -- leading ----------------------------------------------------------------------------------

const here = () => ({ step: s.n.value, cue: s.cue.value, p: Math.max(0, s.partition.value) });

/** Tells the class where this page is; what the server forgot meanwhile is told with it. */
export const announce = newest(async () => {
  if (role.value !== "lead" || !s.tapeNow.value || !channel()?.connected) return;
  try {
    put(await askAbout(s.tapeNow.value, "lead", { room: s.classroom.value.room, ...here() }));
  } catch (problem) {
    if (!(problem instanceof Refused)) return; // the connection: it is told when that is back
    if (problem.code === "forbidden") {
      keep(null);
      s.classroom.value = null;
    }
    complain(problem);
  }
}, TELL_EVERY_MS);

/** Starts a class at the step this page is at. */
export async function start() {
  try {
    const answer = await askAbout(s.tapeNow.value, "lead", here());
    keep(answer.room);
    s.classroom.value = { ...answer, role: "lead" };
  } catch (problem) {
    complain(problem);
  }
}

/** The browser that started a class leads it from this page. */
export function takeLead() {
  keep(s.classroom.value.room);
  put({ role: "lead", own: false });
  announce();
}

export async function end() {
  try {
    await channel().ask("lead", { room: s.classroom.value.room, over: true });
    keep(null);
    s.classroom.value = null;
  } catch (problem) {
    complain(problem);
  }
}
