// A mock interview without a page: which questions are drawn, and what is asked after an answer.
// A turn: {id, part, main, share}; `part` is main, follow (what the question asks next) or deeper
// (the question after that), `main` the number of the question it belongs to, from 0; `share` is
// how much of a good answer was there, 0 to 1, once it was given.

const LEVELS = [1, 1, 1, 2, 2, 2, 3, 3];
/** The share of its facts from which an answer counts as right. */
export const GOOD = 0.5;

/** Eight ids by level: what was missed before comes first, then what was never asked.  `all` has
 *  {id, level, share}, `share` null where it was never asked; `chance` gives 0 to 1. */
export function drawn(all, chance = Math.random) {
  const left = all
    .map((one) => ({ ...one, weight: (one.share ?? 0.5) + chance() * 0.6 }))
    .sort((a, b) => a.weight - b.weight);
  return LEVELS.map((level) => {
    const i = left.findIndex((one) => one.level === level);
    return left.splice(i, 1)[0].id;
  });
}

/** What is asked next, or null at the end.  Every answer has a follow-up; who answers well is
 *  asked a second one, unless this interview has asked it or will. */
export function next(turns, ids, thenOf) {
  const last = turns.at(-1);
  if (!last) return { id: ids[0], part: "main", main: 0 };
  const { main } = last;
  if (last.part === "main") return { id: last.id, part: "follow", main };
  if (last.part === "follow") {
    const so = turns.filter((turn) => turn.main === main);
    const share = so.reduce((sum, turn) => sum + turn.share, 0) / so.length;
    const deeper = thenOf(last.id);
    const known = ids.includes(deeper) || turns.some((turn) => turn.id === deeper);
    if (share >= GOOD && !known) return { id: deeper, part: "deeper", main };
  }
  return main + 1 < ids.length ? { id: ids[main + 1], part: "main", main: main + 1 } : null;
}

/** Ids of questions of which something was missed, each once, in the order they were asked. */
export const missed = (turns) => [
  ...new Set(turns.filter((turn) => turn.share < 1).map((turn) => turn.id)),
];
