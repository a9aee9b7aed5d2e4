// The ten questions before the course and the ten after it: what this browser remembers of them.
// A result is ten signs, "1" where the answer was right; the first one of each side stays.

const KEY = "highwater.measured";
const SIDES = ["before", "after"];
const RESULT = /^[01]{1,40}$/;

/** {before?, after?}; {} where nothing is kept. */
export function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return Object.fromEntries(
      SIDES.filter((side) => RESULT.test(found?.[side])).map((side) => [side, found[side]]),
    );
  } catch {
    return {};
  }
}

/** What is kept, with a result that was not there yet. */
export function keep(side, marks) {
  const all = { [side]: marks, ...kept() };
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
