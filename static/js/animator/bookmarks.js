// Bookmarks and notes: steps of a run that a visitor wants to find again, and what a speaker wants
// to say there, kept in this browser.

import { effect, signal } from "@preact/signals";

import { at } from "../core/dom.js";
import * as s from "./state.js";

const MOST = 40;
const LONGEST = 200; // letters of a note
const key = (digest) => `marks.${digest}`;
const noteKey = (digest) => `notes.${digest}`;

/** Step -> the speaker's note, of the run that is watched.
 * @type {import("@preact/signals").Signal<Record<string, string>>} */
export const notes = signal({});

/** Keeps a note for the step we are on; an empty one is taken away. */
export function note(text) {
  const { [s.n.value]: _, ...others } = notes.value;
  const words = text.trim().slice(0, LONGEST);
  notes.value = words ? { ...others, [s.n.value]: words } : others;
  s.remember(noteKey(s.run.value), JSON.stringify(notes.value));
}

/** The notes of a run; of what is no note nothing is read. */
function noted(digest) {
  try {
    const found = Object.entries(JSON.parse(s.remembered(noteKey(digest), "{}")) ?? {});
    return Object.fromEntries(found.filter(([, text]) => typeof text === "string"));
  } catch {
    return {};
  }
}

/** Reads the bookmarks of the run that is watched, whenever it is another one. */
export function follow() {
  effect(() => {
    const digest = s.run.value;
    if (!digest) return;
    const steps = s.remembered(key(digest), "").split(",").filter(Boolean).map(Number);
    notes.value = noted(digest);
    s.bookmarks.value = steps.filter((n) => Number.isInteger(n) && n >= 0);
  });
}

/** Marks the step we are on, or takes its mark away. */
export function toggle(n = s.n.value) {
  const had = s.bookmarks.value.includes(n);
  const next = had
    ? s.bookmarks.value.filter((one) => one !== n)
    : [...s.bookmarks.value, n].sort((a, b) => a - b).slice(0, MOST);
  s.bookmarks.value = next;
  s.remember(key(s.run.value), next.join(","));
  at("live").textContent = s.t.value(had ? "mark.gone" : "mark.set", { n });
}
