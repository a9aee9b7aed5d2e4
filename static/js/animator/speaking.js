// Full screen, and presenting: picture, caption and rail, with captions that a back row reads.

import { signal } from "@preact/signals";

import * as s from "./state.js";

/** "", "full" or "present": what of the page is shown. */
export const mode = signal("");
/** Is the screen of a speaker dark for a moment? */
export const blank = signal(false);

function show(wanted) {
  mode.value = wanted;
  blank.value = false;
  document.body.dataset.mode = wanted;
  s.sheet.value = null;
  if (wanted) s.drawer.value = false;
}

/** Asks the browser for its whole screen; where it has none to give, the page alone changes. */
function enter(wanted) {
  show(wanted);
  document.documentElement.requestFullscreen?.().catch(() => {
    /* the window is what there is */
  });
}

export function leave() {
  show("");
  if (document.fullscreenElement) document.exitFullscreen();
}

export const fullScreen = () => (mode.value ? leave() : enter("full"));

/** Beat by beat, from where the page stands. */
export function present() {
  if (mode.value === "present") {
    leave();
    return;
  }
  s.size.value = "story";
  enter("present");
}

addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement && mode.value) show("");
});
