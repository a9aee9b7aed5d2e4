// Bookmarks: steps of a run that a visitor wants to find again, kept in this browser.

import { effect } from "@preact/signals";

import { at } from "../core/dom.js";
import * as s from "./state.js";

const MOST = 40;
const key = (digest) => `marks.${digest}`;

/** Reads the bookmarks of the run that is watched, whenever it is another one. */
export function follow() {
  effect(() => {
    const digest = s.run.value;
    if (!digest) return;
    const steps = s.remembered(key(digest), "").split(",").filter(Boolean).map(Number);
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
