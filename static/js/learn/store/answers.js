// What this browser remembers of answers: a list of events, oldest first.
// An event: {at, run, profile, probe, kind, given, right, ids, card?, sure?, href?, text?}; `probe`
// is stable: kind@step.p.b; `card` is the id by which it is remembered; `sure` is 1 (a guess) to 3
// (certain), where it was said; `href` and `text` lead back to what was certain and wrong.

import { store, storedValue } from "../../core/storage.js";
import { CERTAIN, isSure } from "./calibration.js";

export const KEY = "highwater.answers";
const MOST = 2000;
const LONGEST = 400;
const TEXTS = ["run", "profile", "probe", "kind", "given"];

const isShort = (text) => typeof text === "string" && text.length <= LONGEST;
const isPath = (href) => isShort(href) && /^\/(?![/\\])/.test(href);
const isAnswer = (one) =>
  one !== null &&
  typeof one === "object" &&
  Number.isFinite(one.at) &&
  one.at >= 0 &&
  one.at < 8.64e15 &&
  typeof one.right === "boolean" &&
  TEXTS.every((name) => isShort(one[name])) &&
  Array.isArray(one.ids) &&
  one.ids.length <= 40 &&
  one.ids.every(isShort) &&
  (one.sure === undefined || isSure(one.sure)) &&
  (one.card === undefined || isShort(one.card)) &&
  (one.href === undefined || (isPath(one.href) && isShort(one.text)));

/** The address of a question without what was answered to it. */
export function unanswered(search) {
  const asked = new URLSearchParams(search);
  for (const name of ["answer", "by", "sure", "lang"]) asked.delete(name);
  return asked;
}

const FIELDS = ["at", ...TEXTS, "right", "ids", "card", "sure", "href", "text"];
const own = (one) =>
  Object.fromEntries(
    FIELDS.filter((name) => one[name] !== undefined).map((name) => [name, one[name]]),
  );

/** The answers of a file; null where one of them is none. */
export const read = (found) =>
  Array.isArray(found) && found.length <= MOST && found.every(isAnswer) ? found.map(own) : null;

const nameOf = (one) => `${one.at} ${one.probe} ${one.run}`;

/** Both, each answer once, oldest first. */
export function merged(mine, theirs) {
  const all = new Map([...theirs, ...mine].map((one) => [nameOf(one), one]));
  return [...all.values()].sort((a, b) => a.at - b.at).slice(-MOST);
}

/** All answers that are remembered; [] where nothing is kept. */
export function answers() {
  const list = storedValue(KEY, []);
  return Array.isArray(list) ? list.filter(isAnswer) : [];
}

/** Card -> the last answer to it, the oldest first. */
export function lastAnswers(all) {
  const last = new Map();
  for (const one of all) {
    const card = one.card ?? `${one.run} ${one.profile} ${one.probe}`;
    last.delete(card);
    last.set(card, one);
  }
  return last;
}

/** What was certain and wrong, and has not been answered rightly since; the last one first. */
export const sureAndWrong = (all) =>
  [...lastAnswers(all).values()]
    .filter((one) => one.sure === CERTAIN && !one.right && one.href)
    .reverse();

/** Remembers one answer and tells the page, as the event "highwater:answer".
 * @param {{right: boolean, ids: string[], sure?: number, href?: string, text?: string,
 *   [more: string]: any}} answer */
export function answered({ href, text, ...one }) {
  const lost = one.sure === CERTAIN && !one.right;
  const back = lost && isPath(href) ? { href, text: text.slice(0, LONGEST) } : {};
  const texts = TEXTS.map((name) => [name, String(one[name] ?? "").slice(0, LONGEST)]);
  const event = own({ at: Date.now(), ...one, ...Object.fromEntries(texts), ...back });
  store(KEY, JSON.stringify([...answers(), event].slice(-MOST)));
  dispatchEvent(new CustomEvent("highwater:answer", { detail: event }));
}
