// When a question comes back: FSRS with its usual parameters, by whole days, in this browser.
// A card: {href, text, stability, difficulty, due, last, reps, lapses}; times in milliseconds.
// `fsrs` is the library, given by the page: nothing of the algorithm is written here.

import { store, stored } from "../../core/storage.js";

export const KEY = "highwater.memory";
const WHAT = "highwater memory";
/** Of a file: the first had cards only. */
const VERSIONS = [1, 2];
const MOST = 2000;
export const MOST_BYTES = 4_000_000;
const DAY = 86_400_000;
const NUMBERS = ["stability", "difficulty", "due", "last", "reps", "lapses"];

/** Days only, and no chance: the same answers give the same schedule everywhere. */
const scheduler = (fsrs) =>
  fsrs.fsrs({ learning_steps: [], relearning_steps: [], enable_fuzz: false });

/** A card after an answer at a time; `grade` is 1 (again), 2 (hard), 3 (good) or 4 (easy). */
export function reviewed(fsrs, card, grade, now) {
  const before = card.reps
    ? {
        due: new Date(card.due),
        stability: card.stability,
        difficulty: card.difficulty,
        elapsed_days: 0,
        scheduled_days: Math.max(1, Math.round((card.due - card.last) / DAY)),
        learning_steps: 0,
        reps: card.reps,
        lapses: card.lapses,
        state: fsrs.State.Review,
        last_review: new Date(card.last),
      }
    : fsrs.createEmptyCard(new Date(now));
  const { card: after } = scheduler(fsrs).next(before, new Date(now), grade);
  return {
    href: card.href,
    text: card.text,
    stability: after.stability,
    difficulty: after.difficulty,
    due: after.due.getTime(),
    last: now,
    reps: after.reps,
    lapses: after.lapses,
  };
}

export const endOfDay = (now) => new Date(now).setHours(24, 0, 0, 0);

/** May an answer count now?  A new card, or one that is due: to repeat at once teaches little. */
export const counts = (card, now) => !card?.reps || card.due < endOfDay(now);

/** [id, card] of what is due today, the longest due first. */
export const due = (cards, now) =>
  Object.entries(cards)
    .filter(([, card]) => card.due < endOfDay(now))
    .sort(([, a], [, b]) => a.due - b.due);

/** When the next one is due; null where nothing is remembered. */
export const next = (cards) => {
  const times = Object.values(cards).map((card) => card.due);
  return times.length ? Math.min(...times) : null;
};

const isCard = (card) =>
  card !== null &&
  typeof card === "object" &&
  typeof card.text === "string" &&
  card.text.length <= 600 &&
  typeof card.href === "string" &&
  card.href.length <= 600 &&
  /^\/(?![/\\])/.test(card.href) &&
  NUMBERS.every((name) => Number.isFinite(card[name]) && card[name] >= 0) &&
  Math.max(card.due, card.last) < 8.64e15 &&
  card.stability > 0 &&
  card.difficulty >= 1 &&
  card.difficulty <= 10 &&
  card.reps >= 1;

const own = ({ href, text, ...card }) => ({
  href,
  text,
  ...Object.fromEntries(NUMBERS.map((name) => [name, card[name]])),
});

/** The cards of a file that was parsed, or null where it is no memory of this site. */
export function cardsOf(file) {
  const known = file?.what === WHAT && VERSIONS.includes(file.version);
  if (!known || !isTable(file.cards)) return null;
  const all = Object.entries(file.cards);
  if (all.length > MOST || !all.every(([id, card]) => id && id.length <= 400 && isCard(card)))
    return null;
  return Object.fromEntries(all.map(([id, card]) => [id, own(card)]));
}

export const isTable = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The same of its text. */
export function read(text) {
  try {
    return cardsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

/** As text; `more` is what goes into a file beside the cards. */
export const written = (cards, more = {}) =>
  JSON.stringify({ what: WHAT, version: VERSIONS.at(-1), cards, ...more });

/** Both; of a card that is in both, what was answered last. */
export function merged(mine, theirs) {
  const all = { ...mine };
  for (const [id, card] of Object.entries(theirs))
    if (!Object.hasOwn(all, id) || card.last > all[id].last) all[id] = card;
  return bounded(all);
}

/** Of too many, those that are known best go. */
const bounded = (cards) =>
  Object.fromEntries(
    Object.entries(cards)
      .sort(([, a], [, b]) => a.due - b.due)
      .slice(0, MOST),
  );

/** What this browser remembers; {} where nothing is kept. */
export function cards() {
  return read(stored(KEY, "")) ?? {};
}

/** Keeps them; false where this browser keeps nothing. */
export function keep(all) {
  return store(KEY, written(bounded(all)));
}
