// Which class this page is in, in which role, and whether this tab leads it.

import { computed } from "@preact/signals";

import * as s from "./state.js";

const KEY = "highwater.leads";

export const put = (more) => {
  s.classroom.value = { ...s.classroom.value, ...more };
};
export const role = computed(() => s.classroom.value?.role ?? null);
export const following = computed(() => role.value === "follow" && !s.classroom.value?.own);

export const addressOf = (room) => `${location.origin}/class/${room}`;

/** Which class this tab leads: known to the tab alone, and still after a reload. */
export function kept() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function keep(room) {
  try {
    if (room) sessionStorage.setItem(KEY, room);
    else sessionStorage.removeItem(KEY);
  } catch {
    /* this page leads until it is left */
  }
}
