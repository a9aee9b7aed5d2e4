// The stage: draws the step the page rests on, moves between two, and lets its things be pressed.

import { effect } from "@preact/signals";

import { partial } from "../core/detail.js";
import { patch } from "../scene/draw.js";
import { layer, light, measureOnPage, PATTERNS, textures } from "../scene/sheet.js";
import { tanks } from "../scene/tanks/picture.js";
import { measure, sized } from "./sizing.js";
import * as s from "./state.js";

const STEP_MS = 600;
const quiet = matchMedia("(prefers-reduced-motion: reduce)");
const still = new URLSearchParams(location.search).get("still") === "1";

/** Whether anything may move at all. */
export const moves = () =>
  !still &&
  !quiet.matches &&
  document.documentElement.dataset.motion !== "off" &&
  s.view.peek() === "tanks";

let host,
  logs,
  over,
  frozen = false;
/** What the stage shows: the step, its geometry, and what is drawn of it.
 * @type {{step: Step} & ReturnType<typeof tanks> | null} */
let shown = null;
/** The motion under way.
 * @type {{id: number, finish: () => void} | null} */
let running = null;
/** @type {(drawn: typeof shown) => void} */
let onDraw = () => {};
// Motion is loaded once the first step is drawn: the first view needs none.
/** @type {typeof import("../scene/transition.js").transition | null} */
let transition = null;
/** @type {ReturnType<typeof setTimeout> | null} */
let loading = null;

const load = () =>
  import("../scene/transition.js").then((loaded) => {
    transition = loaded.transition;
  });

/** Builds the two layers in `element` and follows the state from then on. */
export function mount(element, { drawn }) {
  host = element;
  measureOnPage();
  onDraw = drawn;
  logs = layer(host, "logs");
  over = layer(host, "over");
  logs.svg.insertAdjacentHTML("afterbegin", `<defs>${PATTERNS}${textures()}</defs>`);
  logs.svg.setAttribute("role", "group");
  over.svg.setAttribute("aria-hidden", "true");
  effect(() => logs.svg.setAttribute("aria-label", s.t.value("stage.label")));
  const resized = new ResizeObserver(() => {
    measure(host);
    rest();
  });
  resized.observe(host.parentElement);
  resized.observe(host); // it shares its place with real brokers
  effect(() => {
    void s.n.value;
    void s.cue.value;
    void s.run.value;
    void s.revision.value;
    void s.words.value;
    void s.partition.value;
    void s.guest.value;
    void s.skip.value;
    void s.unfolded.value;
    void s.layers.value;
    void s.view.value;
    if (!running && !frozen) rest();
  });
  effect(() => light(host, s.lit.value));
  host.addEventListener("pointerover", (event) => {
    const found = event.target.closest?.("[data-id]");
    s.lit.value =
      found && host.contains(found) ? (found.dataset.id ?? found.getAttribute("data-id")) : null;
  });
  host.addEventListener("pointerleave", () => {
    s.lit.value = null;
  });
}

/** The step to draw: the one rested on, or a part of the next in detail size. */
function current() {
  const step = s.step.value;
  const cue = s.cue.value;
  if (cue === null) return step;
  const next = s.tapeNow.value?.steps.get(s.n.value + 1);
  return step && next ? partial(step, next, cue) : step;
}

/** The picture of any step as this stage shows it, at a width of its own: for files. */
export const frame = (step, width) => tanks(step, { ...sized(host), width, height: FRAME });

const FRAME = 540; // px a picture of tanks is high

/** Draws where we are, without motion. */
function rest() {
  const step = current();
  if (!step || !host) return;
  const drawn = { step, ...tanks(step, sized(host)) };
  shown = drawn;
  show(drawn.geo, drawn.logs, drawn.over);
  host.dataset.step = step.n;
  // Something acknowledged is gone at this very step: a moment of its own.
  host.classList.toggle(
    "loss",
    (step.broken ?? []).some((one) => one.inv === "I7"),
  );
  onDraw(drawn);
  if (!loading && moves())
    loading = setTimeout(
      () =>
        load().catch(() => {
          loading = null;
        }),
      500,
    );
}

function show({ width, height }, a, b) {
  for (const { svg } of [logs, over]) {
    const box = `0 0 ${width} ${height}`;
    if (svg.getAttribute("viewBox") === box) continue;
    svg.setAttribute("width", String(Math.round(width)));
    svg.setAttribute("height", Math.round(height));
    svg.setAttribute("viewBox", box);
  }
  patch(logs.root, a);
  patch(over.root, b);
  light(host, s.lit.value);
}

/** Keeps the picture as it is until travel() is called. */
export function freeze() {
  frozen = moves();
}

/** Moves the picture from what is shown to the step now rested on; resolves when it stands. */
export function travel(how) {
  const go = () => across(how);
  return transition || !moves() ? go() : load().then(go, go);
}

function across({ back = false, speed = 1 } = {}) {
  stop();
  frozen = false;
  const from = shown;
  const step = current();
  if (!from || !step || !transition || !moves() || document.hidden) {
    rest();
    return Promise.resolve();
  }
  const to = { step, ...tanks(step, sized(host)) };
  // Going back plays the same transition the other way round, twice as fast.
  const between = back
    ? transition(to, from, { t: s.t.value })
    : transition(from, to, { t: s.t.value });
  const ms = STEP_MS / speed / (back ? 2 : 1);
  return /** @type {Promise<void>} */ (
    new Promise((done) => {
      const started = performance.now();
      shown = to;
      host.dataset.moving = "1";
      const tick = (time) => {
        const p = Math.min(1, (time - started) / ms);
        if (p >= 1) {
          finish();
          return;
        }
        const made = between(back ? 1 - Math.max(0, p) : p);
        show(to.geo, made.logs, made.over);
        motion.id = requestAnimationFrame(tick);
      };
      const finish = () => {
        running = null;
        delete host.dataset.moving;
        rest();
        done();
      };
      const motion = { id: requestAnimationFrame(tick), finish };
      running = motion;
    })
  );
}

/** Ends a motion where it would have ended. */
export function stop() {
  if (!running) return;
  cancelAnimationFrame(running.id);
  running.finish();
}
