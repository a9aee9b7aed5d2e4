// The class this page leads or follows.  The server says where a class is; this page asks and goes.

import { effect } from "@preact/signals";

import { switchTo } from "../animator/acting.js";
import { complain, goTo, open } from "../animator/player.js";
import { pause } from "../animator/playing.js";
import { following, keep, kept, put, role } from "../animator/room.js";
import * as s from "../animator/state.js";
import { newest, sleep } from "../core/debounce.js";
import { Refused } from "../core/post.js";
import { channel } from "../net/channel.js";
import { listen } from "./asking.js";
import { announce } from "./leading.js";

const OPEN_EVERY_MS = 600; // a little slower than the server lets one connection open runs
const LOOK_AGAIN_MS = 2500; // for a class whose server was restarted, until its leader is back
const NEAR = 12; // steps over which one sees what happened on the way

// -- following --------------------------------------------------------------------------------

let going = null; // the place of the class this page was last taken to
let moving = false;
let openedAt = -Infinity;

const at = (place) =>
  s.run.value === place.run && s.n.value === place.step && s.cue.value === place.cue;

const catchUp = newest(async () => {
  if (!following.value || !channel()?.connected || !s.classroom.value.run) return;
  if (s.classroom.value.run !== s.run.value)
    await sleep(Math.max(0, openedAt + OPEN_EVERY_MS - performance.now()));
  const { run, step, cue, p } = s.classroom.value;
  if (!following.value) return;
  const from = { run: s.run.value, step: s.n.value, cue: s.cue.value };
  going = { run, step, cue };
  moving = true;
  pause();
  try {
    if (run !== from.run) await show(run, step);
    if (!at(going))
      await goTo(step, { cue, motion: run === from.run && Math.abs(step - from.step) <= NEAR });
    s.partition.value = p;
  } catch (problem) {
    await missed(problem);
  } finally {
    moving = false;
  }
  if (!at(going) && !at(from)) lookAround();
});

/** Another run: one this page has, or one it is told.  The leader's last one goes if it led
 *  nowhere. */
async function show(run, step) {
  if (s.tapes.value.some((one) => one.digest === run)) switchTo(run);
  else {
    openedAt = performance.now();
    const { text, facts } = await open({ run, step });
    Object.assign(s.tapeNow.value, { text, saved: Boolean(facts.saved), led: true });
  }
  const all = s.tapes.value;
  s.tapes.value = all.filter(
    (one) => one.digest === run || !one.led || all.some((child) => child.parent === one),
  );
}

async function missed(problem) {
  if (!(problem instanceof Refused)) return; // the connection: `arrive` comes here again
  if (problem.code === "slow_down") {
    setTimeout(catchUp, problem.args.ms ?? 1000);
    return;
  }
  // A page that joins names the room's run again, in case the server has evicted it.
  if (problem.code === "gone") {
    await join();
    setTimeout(catchUp, OPEN_EVERY_MS);
    return;
  }
  complain(problem);
}

let looking = 0;

/** Enters the room, or says whether this page goes along; asks again while there is no such
 *  room. */
async function join() {
  clearTimeout(looking);
  const { room, own } = s.classroom.value;
  try {
    put(await channel().ask("join", { room, following: !own }));
  } catch (problem) {
    put({ led: false });
    if (!(problem instanceof Refused)) return;
    if (problem.code === "gone")
      looking = setTimeout(() => {
        if (role.value === "follow" && channel().connected) join().then(catchUp);
      }, LOOK_AGAIN_MS);
    else complain(problem);
  }
}

/** From now on this page goes its own ways. */
export function lookAround() {
  if (!following.value) return;
  put({ own: true });
  join();
}

export async function followAgain() {
  going = null;
  put({ own: false });
  await join();
  await catchUp();
}

// -- both -------------------------------------------------------------------------------------

function heard(told) {
  if (told.room !== s.classroom.value?.room || !role.value) return;
  if (told.over) {
    keep(null);
    put({ role: null, ended: true });
    return;
  }
  const { taken, ...rest } = told;
  if (taken) {
    keep(null);
    put({ ...rest, role: "follow", own: true, mine: true });
    return;
  }
  // Where it is, a leader knows best.
  put(
    role.value === "lead"
      ? { following: told.following, looking: told.looking, poll: told.poll }
      : rest,
  );
  catchUp();
}

/** Once for the page, before it connects. */
export function attend(link) {
  const { room } = s.boot.value;
  const leads = kept();
  if (leads && (!room || room === leads))
    s.classroom.value = { room: leads, role: "lead", led: true, following: 0, looking: 0 };
  else if (room)
    s.classroom.value = { room, role: "follow", own: false, led: true, following: 0, looking: 0 };
  link.on("room", heard);
  listen();
  effect(() => {
    void s.run.value;
    void s.n.value;
    void s.cue.value;
    void s.partition.value;
    if (role.value === "lead") announce();
  });
  effect(() => {
    void s.run.value;
    void s.n.value;
    void s.cue.value;
    if (going && !moving && following.value && !at(going)) queueMicrotask(lookAround);
  });
}

/** Connected, for the first time or again. */
export async function arrive() {
  if (role.value === "lead") announce();
  if (role.value !== "follow") return;
  if (s.boot.value.room && s.tapes.value.length === 1) s.tapeNow.value.led = true;
  await join();
  await catchUp();
}
