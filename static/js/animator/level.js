// A level, "Can you lose it?": only its moves can be made, the engine judges them, and the address
// is a link that plays them.

import { effect } from "@preact/signals";

import { channel } from "../net/channel.js";
import { act, limit, takeBackAll } from "./acting.js";
import { complain } from "./player.js";
import * as s from "./state.js";
import { mark } from "./visits.js";

const WAIT = "wait"; // how a link names that time passes
const TIME = /^(settle|detect) ?/;

/** The moves of a run after its first ones, for a link. */
function link(facts) {
  const moves = facts.moves
    .slice(s.level.value.first)
    .map((move) => (TIME.test(move) ? WAIT : move));
  return moves.filter((move, i) => move !== WAIT || moves[i - 1] !== WAIT).join(";");
}

/** Do the moves of a link play?  Then nothing is marked as solved here. */
let linked = false;

/** @type {Map<string, Promise<any>>} */
const asked = new Map();

/** The verdict on a run; each run is asked for once. */
function judge(run) {
  const known = asked.get(run);
  if (known) return known;
  const answer = channel().ask("level", { run, level: s.level.value.slug });
  answer.catch(() => asked.delete(run));
  asked.set(run, answer);
  return answer;
}

function show(answer) {
  if (answer.run !== s.run.value) return;
  s.level.value = { ...s.level.value, verdict: answer };
  if (answer.done && !linked) mark(`level:${s.level.value.slug}`);
}

/** Says that it cannot be lost; the engine knows. */
export async function claim() {
  try {
    const { slug } = s.level.value;
    show(await channel().ask("level", { run: s.run.value, level: slug, claim: true }));
  } catch (problem) {
    complain(problem);
  }
}

export const restart = () => takeBackAll();

async function allows(on, text) {
  const { moves, wait } = await judge(on.digest);
  if (text === wait || moves.some((one) => one.text === text)) return true;
  const known = moves.map((one) => one.text).join(", ") || "–";
  s.notice.value = { kind: "warn", text: s.t.value("level.only", { moves: known }) };
  return false;
}

async function possible(run) {
  const { moves } = await judge(run);
  return moves.map(({ text, about, say }) => ({ text, about, help: say, enabled: true, why: "" }));
}

/** Lets time pass. */
const pass = () => judge(s.run.value).then(({ wait }) => act(wait), complain);

/** Resolves when the last move has been played out. */
const rested = () =>
  new Promise((done) => {
    const stop = effect(() => {
      if (s.unfolding.value && s.playing.value) return;
      queueMicrotask(() => stop());
      done(null);
    });
  });

/** Plays moves one after another, as a link names them. */
async function playLink(moves) {
  linked = true;
  for (const text of moves) {
    if (!(await (text === WAIT ? pass() : act(text)))) break;
    await rested();
  }
  await judge(s.run.value);
  linked = false;
}

/** Makes the page a level; `moves` are those of its link. */
export function begin(moves) {
  limit({ allows, possible });
  effect(() => {
    const run = s.run.value;
    if (run && s.online.value) judge(run).then(show, complain);
  });
  s.level.value = { ...s.level.value, pass, link };
  if (moves.length) playLink(moves);
}
