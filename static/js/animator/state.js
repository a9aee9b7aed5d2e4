// State of the page as signals.  Panels read it; player.js alone changes runs and the cursor.

import { computed, signal } from "@preact/signals";

import { breakOf } from "../core/breaks.js";
import { chapterAt } from "../core/history.js";
import { store, stored } from "../core/storage.js";
import { inTurn, namer, translator, versioned } from "../i18n/words.js";
import { layersOf } from "../scene/layers.js";
import { isLarge } from "../scene/matrix.js";

/** What this browser keeps of a choice, and keeping it. */
export const remembered = (key, otherwise) => stored(`highwater.${key}`, otherwise);
export function remember(key, value) {
  store(`highwater.${key}`, value);
}

/** What the stage can show, and what stands beside it, in the order in which they are offered. */
export const VIEWS = ["tanks", "spacetime", "table", "matrix"];
/** Views that old links name, and what stands in their place. */
export const OLD_VIEWS = { lanes: "tanks" };
/** The drawer's three names, and the panels behind each. */
export const DRAWER = {
  why: ["now", "code"],
  state: ["inspect", "table", "metrics"],
  log: ["log", "checks"],
};
export const TABS = Object.values(DRAWER).flat();

/** @type {import("@preact/signals").Signal<Record<string, string>>} */
export const words = signal({});
export const lang = signal("en");
export const t = computed(() => translator(words.value, lang.value));

/** What the server told this page; set before anything else of it is read.
 * @type {import("@preact/signals").Signal<Boot>} */
export const boot = signal(/** @type {any} */ (null));
/** @type {import("@preact/signals").Signal<Tape[]>} */
export const tapes = signal([]); // every run of this visit, the first one first
/** @type {import("@preact/signals").Signal<string | null>} */
export const run = signal(null); // digest of the run being watched
export const n = signal(0); // the step the stage rests on
/** @type {import("@preact/signals").Signal<number | null>} */
export const cue = signal(null); // in detail size: which cue of the coming step is shown
export const revision = signal(0); // rises when steps arrive on a tape

export const size = signal(remembered("size", "story"));
export const speed = signal(Number(remembered("speed", "1")));
export const playing = signal(false);
/** Digest of the run whose latest moves are being played out; null once their end was reached or
 *  the reader stepped back.
 * @type {import("@preact/signals").Signal<string | null>} */
export const unfolding = signal(null);
/** Does the cluster's time go on by itself?  `held`: not while a menu is open. */
export const living = signal(false);
export const held = signal(false);
export const online = signal(false);
/** @type {import("@preact/signals").Signal<number | null>} */
export const offlineSince = signal(null);
export const retryAt = signal(0); // when the page tries to connect again, as performance.now()
/** @type {import("@preact/signals").Signal<Notice | null>} */
export const notice = signal(null); // {kind: "bad"|"warn"|"ok", text}
export const tab = signal("now");
/** Does the drawer stand open? */
export const drawer = signal(false);
/** What lies over the page: "more", "break", "palette", or nothing.
 * @type {import("@preact/signals").Signal<string | null>} */
export const sheet = signal(null);
/** The level this page is, with `verdict`, what the engine says of the run on the stage, `pass`,
 *  which lets time pass, and `link`, the moves for an address; null on other pages.
 * @type {import("@preact/signals").Signal<any>} */
export const level = signal(null);
/** The class this page is in: {room, role, own, ...what the server tells}.
 * @type {import("@preact/signals").Signal<Classroom | null>} */
export const classroom = signal(null);
/** @type {import("@preact/signals").Signal<PutAway | null>} */
export const predicting = signal(null); // what was put away while one is asked what comes
/** @type {import("@preact/signals").Signal<string | null>} */
export const selected = signal(null); // data-id of what Inspect shows
/** @type {import("@preact/signals").Signal<string | null>} */
export const lit = signal(null); // data-id a sentence points at, or the reverse
export const partition = signal(0);
/** @type {import("@preact/signals").Signal<number | null>} */
export const guest = signal(null); // a broker that was called from its mark into a tank
export const skip = signal(0); // brokers whose marks come after all others
export const unfolded = signal(false);
const asked = new URLSearchParams(location.search);
export const layers = signal(layersOf(asked.get("layers") ?? remembered("layers", "")));
const viewAsked = asked.get("view");
export const chosen = signal(
  OLD_VIEWS[viewAsked] ?? VIEWS.find((one) => one === viewAsked) ?? null,
);
export const beside = signal("model"); // or "real" brokers, or "both" (animator/reality.js)
/** What the engine offers: profiles, rules, invariants.
 * @type {import("@preact/signals").Signal<Record<string, any[]>>} */
export const registry = signal({});
/** @type {import("@preact/signals").Signal<Record<string, any>>} */
export const cards = signal({}); // rule -> its card under this run's profile
/** The moves of a step, and what its messages carry in full, by their ids.
 * @type {import("@preact/signals").Signal<{key: string | null, moves: any[],
 *   messages?: Record<string, object>}>} */
export const possible = signal({ key: null, moves: [] });
/** What a dashboard shows of the step its key names.
 * @type {import("@preact/signals").Signal<{key: string | null, nodes?: any[], rows?: any[],
 *   lines?: any[]}>} */
export const dashboard = signal({ key: null });
export const breaks = signal(remembered("breaks", "").split(",").map(breakOf).filter(Boolean));
export const byTime = signal(remembered("rail", "steps") === "time");
/** @type {import("@preact/signals").Signal<number[]>} */
export const bookmarks = signal([]); // steps of the run watched that the visitor marked
/** @type {import("@preact/signals").Signal<{run: string, n: number} | null>} */
export const crumb = signal(null); // where a jump came from
const small = matchMedia("(max-width: 600px)");
export const phone = signal(small.matches);
small.addEventListener("change", () => {
  phone.value = small.matches;
});
export const letters = signal(remembered("letters", "on") === "on");

export const tapeNow = computed(() => tapes.value.find((one) => one.digest === run.value) ?? null);
/** The runs that one would look for: not those that differ in who moves messages only. */
export const branches = computed(() => tapes.value.filter((one) => !one.pace));
export const facts = computed(() => {
  void revision.value;
  return tapeNow.value?.facts ?? null;
});
export const step = computed(() => {
  void revision.value;
  return tapeNow.value?.steps.get(n.value) ?? null;
});
export const chapter = computed(() => {
  const at = facts.value ? chapterAt(facts.value, n.value) : null;
  return at?.comment ? { ...at, comment: inTurn([versioned(t.value, at.comment)]) } : at;
});
/** The view a run begins with, and the one that is seen. */
export const usualView = computed(() =>
  step.value && isLarge(step.value.view) ? "matrix" : "tanks",
);
export const view = computed(() => chosen.value ?? usualView.value);
export const name = computed(() => namer(t.value, step.value?.view.brokers ?? []));
export const env = computed(() => ({ t: t.value, name: name.value }));

/** Invariants broken at or before the step, the first time each. */
export const broken = computed(() => {
  const verdict = facts.value?.verdict;
  if (!verdict) return [];
  return (verdict.broken ?? []).filter((b) => b.step <= n.value);
});
