// What a visitor chooses to look at, and where the choice is kept.

import { toggled } from "../scene/layers.js";
import * as s from "./state.js";

/** The views of this run: a matrix only where there are several partitions. */
export const views = () =>
  (s.step.value?.view.partitions.length ?? 0) > 1
    ? s.VIEWS
    : s.VIEWS.filter((one) => one !== "matrix");

/** The next view, or the one named. */
export function setView(name) {
  const all = views();
  s.chosen.value = name ?? all[(all.indexOf(s.view.value) + 1) % all.length];
}

/** Draws a layer, or leaves it out. */
export function setLayer(name) {
  s.layers.value = toggled(s.layers.value, name);
}

/** How far one step on goes: one of SIZES. */
export function setSize(size) {
  s.size.value = size;
  s.cue.value = null;
  s.remember("size", size);
}

/** Opens the drawer at one of its panels; with `focus`, the keyboard goes there, too. */
export function pick(name, focus = false) {
  s.tab.value = name;
  s.drawer.value = true;
  if (focus) requestAnimationFrame(() => document.getElementById(`tab-${name}`)?.focus());
}
