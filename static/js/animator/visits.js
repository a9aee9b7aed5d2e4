// What this browser remembers of the runs it watched: the path's progress, and runs of one's own.

import { store, storedValue } from "../core/storage.js";

const MOST = 24;
const LONGEST = 4000; // a link that carries a whole run may be long; beyond this it is not kept

function read(key) {
  const list = storedValue(`highwater.${key}`, []);
  return Array.isArray(list) ? list : [];
}

const write = (key, list) => store(`highwater.${key}`, JSON.stringify(list));

/** Keys of library runs that were watched to their end: "S20:Z0102". */
export const done = () => read("done");
export const forgetDone = () => write("done", []);

/** This run was seen to its end: a library script, or moves of one's own on the empty canvas. */
function finish(facts) {
  if (!facts.scenario.code || !(facts.script || facts.scenario.canvas)) return;
  mark(`${facts.scenario.code}:${facts.profile}`);
}

/** One key of the path, once. */
export function mark(key) {
  const known = done();
  if (!known.includes(key)) write("done", [...known, key]);
}

/** Runs changed or saved here, the latest first: {run, url, title, profile, step, saved}. */
export const runs = () => read("runs");
export const forgetRuns = () => write("runs", []);

/** Keeps a run, or what changed of it; the oldest is let go.  False where its link is too long. */
export function keep(run) {
  if (run.url.length > LONGEST) return false;
  write("runs", [run, ...runs().filter((one) => one.run !== run.run)].slice(0, MOST));
  return true;
}

/** The library's page shows which runs were watched to their end, and those of one's own. */
export function remember(on, n, url) {
  const { facts } = on;
  // Time alone passes in every cluster that lives: one that was broken counts as played.
  const broke = facts.scenario.live && facts.moves.some((move) => !/^(run|advance) /.test(move));
  if (n > 0 && (n === facts.total || broke)) finish(facts);
  const saved = Boolean(facts.saved || (on.parent && on.saved));
  if (on.parent || saved || !facts.script)
    keep({
      run: on.digest,
      url,
      title: facts.scenario.title,
      profile: facts.profile,
      move: on.name ?? "",
      step: n,
      saved,
    });
}
