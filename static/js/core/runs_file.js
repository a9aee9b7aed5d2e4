// A file of runs of one's own, to be taken to another browser or host: each with its whole text.
// A file is read as a whole or not at all.

import { pack, unpack } from "./packing.js";

const WHAT = "highwater runs";
const VERSION = 1;
const MOST = 100;
export const MOST_BYTES = 4_000_000;
const LONGEST = { text: 200_000, title: 400, profile: 40, move: 400 };

/** The text of a run: its link carries it, or it is asked for by its digest; null if neither. */
async function textOf({ run, url }) {
  try {
    const packed = new URLSearchParams(url.split("#")[1] ?? "").get("run");
    if (packed) return await unpack(packed);
    const told = await fetch(`/r/${run}.json`);
    return told.ok ? await told.text() : null;
  } catch {
    return null;
  }
}

/** The text of a file with these runs, as `visits.runs` lists them; those without text are left
 *  out. */
export async function written(runs) {
  const found = [];
  for (const one of runs) {
    const { title, profile, move, step } = one;
    const text = await textOf(one);
    if (text !== null) found.push({ title, profile, move, step, text });
  }
  return JSON.stringify({ what: WHAT, version: VERSION, runs: found });
}

const isRun = (one) =>
  Object.entries(LONGEST).every(
    ([name, most]) => typeof one?.[name] === "string" && one[name].length <= most,
  ) &&
  Number.isInteger(one.step) &&
  one.step >= 0 &&
  one.text.startsWith("{");

/** What `visits.keep` takes of each run of a file, or null where it is no such file or damaged. */
export async function read(text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    return null;
  }
  const good =
    file?.what === WHAT &&
    file.version === VERSION &&
    Array.isArray(file.runs) &&
    file.runs.length <= MOST &&
    file.runs.every(isRun);
  if (!good) return null;
  return Promise.all(
    file.runs.map(async ({ text: whole, ...told }) => {
      const packed = await pack(whole);
      return { ...told, run: packed, url: `/r?step=${told.step}#run=${packed}`, saved: false };
    }),
  );
}
