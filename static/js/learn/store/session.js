// Cards that are asked in a row, and where one stands among them.  Pure, but for the last part.
// A card of the deck: {id, href, kind, topic, level, right?}; `right`: is this claim true?
// A session: {name, cards: [{id, href}], until, done: {id: {text, share}}}; `share` is how much of
// a good answer was there, 0 to 1.

const KEY = "highwater.session";
export const MINUTES = { ten: 10, mock: 25 };
/** The share of its facts from which an answer counts as right. */
export const GOOD = 0.5;
const CARDS = 14;
const CLAIMS = 6;
const QUESTIONS = 2;
const LEVELS = [1, 1, 1, 2, 2, 2, 3, 3];

/** Cards in the order in which they are worth asking: `first` of all those ids, then what is due,
 *  the longest due first, then what was never asked, then the rest.  `chance` gives 0 to 1. */
export function ordered(deck, memory, endOfDay, first = [], chance = Math.random) {
  const weight = (card) => {
    if (first.includes(card.id)) return -Infinity;
    return memory[card.id] ? memory[card.id].due - endOfDay + 1 : chance();
  };
  return deck
    .map((card) => ({ card, weight: weight(card) }))
    .sort((a, b) => (a.weight < b.weight ? -1 : 1))
    .map(({ card }) => card);
}

/** Ten minutes of an order: as many true claims as false ones, a few questions of an interview. */
export function session(order, chance = Math.random) {
  const sides = [true, false].map((right) => order.filter((card) => card.right === right));
  const pairs = Math.min(CLAIMS / 2, ...sides.map((side) => side.length));
  const claims = sides.flatMap((side) => side.slice(0, pairs));
  const questions = order.filter((card) => card.kind === "interview").slice(0, QUESTIONS);
  const rest = order.filter((card) => card.right === undefined);
  const asked = rest.filter((card) => card.kind !== "interview" || questions.includes(card));
  return [...claims, ...asked.slice(0, CARDS - claims.length)]
    .map((card) => ({ card, place: chance() }))
    .sort((a, b) => a.place - b.place)
    .map(({ card }) => card);
}

/** Eight questions of an interview, by level. */
export function interview(order) {
  const left = order.filter((card) => card.kind === "interview");
  return LEVELS.map((level) => {
    const i = left.findIndex((card) => card.level === level);
    return left.splice(i, 1)[0];
  });
}

/** Puts the question that an interviewer asks next behind one that was answered well. */
export function deepened(session, id, then) {
  const known = session.cards.some((card) => card.id === then.id);
  const share = session.done[id]?.share ?? 0;
  if (session.name !== "mock" || known || share < GOOD) return session;
  const at = session.cards.findIndex((card) => card.id === id) + 1;
  return { ...session, cards: session.cards.toSpliced(at, 0, then) };
}

/** The address behind a card, at the end that of the deck. */
export function next(session, id, now) {
  const at = session.cards.findIndex((card) => card.id === id);
  const card = now < session.until ? session.cards[at + 1] : undefined;
  return card?.href ?? "/practice#done";
}

/** The session under way, or null. */
export function load() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}

export function keep(session) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(session));
  } catch {
    // Cards are asked one by one, without an end.
  }
}
