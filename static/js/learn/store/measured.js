// The ten questions before the course and the ten after it: what this browser remembers of them.
// A result is ten signs, "1" where the answer was right, and ten more of how sure each was, "0" to
// "3"; the first one of each side stays.

import { answersOf } from "./calibration.js";

export const KEY = "highwater.measured";
const SIDES = ["before", "after"];
const RESULT = /^[01]{1,40}$/;
const SURE = /^[0-3]{1,40}$/;

const isSure = (sure, marks) => SURE.test(sure) && sure.length === marks.length;

/** {before?, after?, sure?: {before?, after?}} of what was read; null where it is unlike it. */
export function read(found) {
  if (found === null || typeof found !== "object" || Array.isArray(found)) return null;
  const all = {};
  for (const side of SIDES) {
    if (!Object.hasOwn(found, side)) continue;
    if (typeof found[side] !== "string" || !RESULT.test(found[side])) return null;
    all[side] = found[side];
    const sure = found.sure?.[side];
    if (sure === undefined) continue;
    if (typeof sure !== "string" || !isSure(sure, found[side])) return null;
    all.sure = { ...all.sure, [side]: sure };
  }
  return all;
}

/** The first result of each side stays: of two memories mine. */
export function merged(mine, theirs) {
  const all = { ...mine };
  for (const side of SIDES) {
    if (all[side] || !theirs[side]) continue;
    all[side] = theirs[side];
    if (theirs.sure?.[side]) all.sure = { ...all.sure, [side]: theirs.sure[side] };
  }
  return all;
}

/** What is kept of each side; {} where nothing is, or nothing that can be read. */
export function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const each = SIDES.filter((side) => found?.[side]).map((side) =>
      read({ [side]: found[side], sure: found.sure }),
    );
    return each.reduce((all, one) => merged(all, one ?? {}), {});
  } catch {
    return {};
  }
}

/** What is kept, with a result that was not there yet. */
export function keep(side, marks, sure) {
  const said = sure && isSure(sure, marks) && /[123]/.test(sure);
  const all = merged(kept(), { [side]: marks, ...(said ? { sure: { [side]: sure } } : {}) });
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A browser that keeps nothing compares nothing.
  }
  return all;
}

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // There was nothing.
  }
}

export const right = (marks) => [...marks].filter((one) => one === "1").length;

/** One side's answers, {right, sure}; [] where it was not taken. */
export const answers = (all, side) => answersOf(all[side], all.sure?.[side]);

/** {before, after, n, sort: more, same or less, won, lost}; the last two are places from 0. */
export function gained({ before, after }) {
  const places = [...after].map((_, i) => i);
  const n = right(after) - right(before);
  return {
    before: right(before),
    after: right(after),
    n: Math.abs(n),
    sort: n > 0 ? "more" : n < 0 ? "less" : "same",
    won: places.filter((i) => before[i] === "0" && after[i] === "1"),
    lost: places.filter((i) => before[i] === "1" && after[i] === "0"),
  };
}

/** One line of both, where there is something to tell. */
export function told(line, all) {
  if (!line || (!all.before && !all.after)) return;
  const of = (marks) => (marks ? right(marks) : "–");
  line.textContent = line.dataset.text
    .replace("{before}", of(all.before))
    .replace("{after}", of(all.after))
    .replace("{total}", line.dataset.total);
  line.hidden = false;
}
