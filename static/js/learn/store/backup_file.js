// One file of the learning that this browser remembers, for another browser: cards and their days,
// answers and how sure they were, how far the course went.  A file is read as a whole
// or not at all, and what was here stays.

import { storedValue } from "../../core/storage.js";
import * as answers from "./answers.js";
import * as course from "./course.js";
import * as memory from "./memory.js";

const MOST_NAMES = 600;
const MOST_SCENES = 40;

const isTable = (value, good) =>
  memory.isTable(value) &&
  Object.keys(value).length <= MOST_NAMES &&
  Object.entries(value).every(([name, one]) => name.length <= 80 && good(one));
const isCount = (n) => Number.isInteger(n) && n >= 0 && n < 1e6;
const isScenes = (list) =>
  Array.isArray(list) && list.length <= MOST_SCENES && list.every((n) => isCount(n) && n > 0);
const checked = (good) => (value) => (good(value) ? value : null);
const each = (mine, theirs, both) =>
  Object.fromEntries(
    [...new Set([...Object.keys(theirs), ...Object.keys(mine)])].map((name) => [
      name,
      Object.hasOwn(mine, name) && Object.hasOwn(theirs, name)
        ? both(mine[name], theirs[name])
        : (mine[name] ?? theirs[name]),
    ]),
  );
const union = (mine, theirs) => [...new Set([...theirs, ...mine])];

/** Part of the file -> where it is kept, what is kept where nothing is, how it is read (null: it
 *  cannot be), and how two become one. */
const PARTS = {
  answers: { key: answers.KEY, none: [], read: answers.read, merged: answers.merged },
  course: {
    key: course.KEY,
    none: {},
    read: checked((value) => isTable(value, isScenes)),
    merged: (mine, theirs) => each(mine, theirs, union),
  },
};

/** What this browser keeps of a part; what of it cannot be read is not taken along. */
const here = ({ key, none, read }) => read(storedValue(key, none)) ?? none;

/** The text of the file. */
export const written = () =>
  memory.written(
    memory.cards(),
    Object.fromEntries(Object.entries(PARTS).map(([name, part]) => [name, here(part)])),
  );

/** {cards, answers, course} of a file's text, what it lacks left out; null where it is no file of
 *  this site, or any of it is damaged. */
export function read(text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    return null;
  }
  const cards = memory.cardsOf(file);
  if (!cards) return null;
  const found = { cards };
  for (const [name, part] of Object.entries(PARTS)) {
    if (!Object.hasOwn(file, name)) continue;
    found[name] = part.read(file[name]);
    if (found[name] === null) return null;
  }
  return found;
}

/** Lays what was read beside what is here.  False, and nothing is changed, where this browser
 *  keeps nothing or has no room for it. */
export function keep(found) {
  const before = [];
  try {
    const put = (key, text) => {
      before.push([key, localStorage.getItem(key)]);
      localStorage.setItem(key, text);
    };
    put(memory.KEY, memory.written(memory.merged(memory.cards(), found.cards)));
    for (const [name, part] of Object.entries(PARTS))
      if (found[name]) put(part.key, JSON.stringify(part.merged(here(part), found[name])));
    return true;
  } catch {
    for (const [key, text] of before.reverse())
      if (text === null) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
    return false;
  }
}
