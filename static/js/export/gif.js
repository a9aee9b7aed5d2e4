// Steps as an animated GIF: drawn here, encoded in a worker, with progress and a way to stop.

import * as stage from "../animator/stage.js";
import * as s from "../animator/state.js";
import { add } from "../core/history.js";
import { askAbout } from "../net/channel.js";
import { transition } from "../scene/transition.js";
import { drawing, image } from "./frame.js";
import { weighs } from "./plan.js";
import { loadParts } from "./written.js";

/** All steps of a range, asked for where they are not known yet. */
async function fetchSteps(on, a, b) {
  for (let n = Math.max(0, a); n <= b; n += 1) {
    if (on.steps.has(n)) continue;
    const answer = await (n === 0
      ? askAbout(on, "seek", { step: 0 })
      : askAbout(on, "play", { step: n - 1, count: Math.min(32, b - n + 1) }));
    add(on, answer.steps);
  }
}

/** The pictures of one animation, each painted on one canvas. */
function painter(on, frames, width, words) {
  const made = new Map();
  const pictureOf = (n) => {
    if (!made.has(n)) {
      made.clear();
      made.set(n, { step: on.steps.get(n), ...stage.frame(on.steps.get(n), width) });
    }
    return made.get(n);
  };
  let last = null;
  let canvas = null;
  let high = 0;
  return async ({ n, p }) => {
    const to = pictureOf(n);
    let shown = to;
    if (p < 1 && last) {
      shown = { geo: to.geo, ...transition(last.made, to, { t: s.t.value })(p) };
    } else last = { made: to };
    const svg = drawing(shown, words(on.steps.get(n)));
    high ||= svg.height;
    canvas ??= new OffscreenCanvas(width, high);
    const ctx = canvas.getContext("2d", { willReadFrequently: true });
    ctx.drawImage(await image(svg.text), 0, 0);
    return ctx.getImageData(0, 0, width, high);
  };
}

/** The pictures of frames, one after another, until `signal` stops them: {frame, image}.
 * @param {object} on
 * @param {import("./plan.js").Frame[]} frames
 * @param {{width: number, words: (step: Step) => object, signal?: AbortSignal}} how */
export async function* pictures(on, frames, { width, words, signal }) {
  await loadParts();
  await fetchSteps(on, frames[0].n, frames.at(-1).n);
  const paint = painter(on, frames, width, words);
  for (const frame of frames) {
    const image = await paint(frame);
    if (signal?.aborted) return;
    yield { frame, image };
  }
}

function encoder() {
  const worker = new Worker("/static/js/export/gif.worker.js", { type: "module" });
  let done;
  let failed;
  worker.onmessage = ({ data }) => done(data);
  worker.onerror = (event) => failed(new Error(event.message));
  const ask = (message, transfer) =>
    new Promise((yes, no) => {
      done = yes;
      failed = no;
      worker.postMessage(message, transfer);
    });
  return { ask, end: () => worker.terminate() };
}

/** Makes the file.  `told` hears of every frame; `signal` stops it: then null.
 * @param {object} on
 * @param {import("./plan.js").Frame[]} frames
 * @param {{width: number, words: (step: Step) => object, signal?: AbortSignal,
 *   told?: (how: {done: number, of: number, bytes: number, ms: number}) => void}} how */
export async function animate(on, frames, { told = () => {}, ...how }) {
  const { ask, end } = encoder();
  const started = performance.now();
  try {
    let under = Promise.resolve(); // the frame being encoded, while the next one is painted
    let done = 0;
    for await (const { frame, image } of pictures(on, frames, how)) {
      await under;
      const { data, width, height } = image;
      under = ask({ pixels: data.buffer, width, height, delay: frame.delay }, [data.buffer]).then(
        ({ bytes }) => {
          done += 1;
          told({ done, of: frames.length, bytes, ms: (performance.now() - started) / done });
        },
      );
    }
    await under;
    if (how.signal?.aborted) return null;
    const { made } = await ask({ end: true });
    return new Blob([made], { type: "image/gif" });
  } finally {
    end();
  }
}

/** About how many bytes it will have: its first frames are made and measured. */
export async function estimate(on, frames, options) {
  const sizes = [];
  const few = frames.slice(0, 6);
  await animate(on, few, { ...options, told: ({ bytes }) => sizes.push(bytes) });
  const first = sizes[0] ?? 0;
  return weighs(frames, first, few.length > 1 ? (sizes.at(-1) - first) / (few.length - 1) : 0);
}
