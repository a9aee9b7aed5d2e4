// Beats as a film, recorded by the browser itself, and as a strip: one picture of all of them.

import { pictures } from "./gif.js";

const TYPE = "video/webm";
const HIGHEST = 8000; // px of a column of the strip

/** Can this browser record a film? */
export const records = () =>
  typeof MediaRecorder !== "undefined" &&
  MediaRecorder.isTypeSupported(TYPE) &&
  "captureStream" in HTMLCanvasElement.prototype;

const until = (time) => new Promise((done) => setTimeout(done, time - performance.now()));

/** Paints an image on a canvas, which takes the size of the first one. */
function show(canvas, image) {
  if (canvas.width !== image.width)
    Object.assign(canvas, { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** The frames as a film: it takes as long as it plays.
 * @param {object} on
 * @param {import("./plan.js").Frame[]} frames
 * @param {{told?: (how: {done: number, of: number, bytes: number}) => void,
 *   signal?: AbortSignal, width: number, words: (step: Step) => object}} how */
export async function film(on, frames, { told = () => {}, ...how }) {
  const canvas = document.createElement("canvas");
  const parts = [];
  let recorder = null;
  let ends = 0;
  let [done, bytes] = [0, 0];
  for await (const { frame, image } of pictures(on, frames, how)) {
    await until(ends);
    show(canvas, image);
    if (!recorder) {
      recorder = new MediaRecorder(canvas.captureStream(), { mimeType: TYPE });
      recorder.ondataavailable = ({ data }) => {
        parts.push(data);
        bytes += data.size;
      };
      recorder.start(1000);
    }
    ends = performance.now() + frame.delay;
    done += 1;
    told({ done, of: frames.length, bytes });
  }
  if (how.signal?.aborted || !recorder) return null;
  await until(ends);
  const stopped = new Promise((yes) => {
    recorder.onstop = yes;
  });
  recorder.stop();
  await stopped;
  return new Blob(parts, { type: TYPE });
}

/** The frames below one another in one picture, in columns where there are many.
 * @param {object} on
 * @param {import("./plan.js").Frame[]} frames
 * @param {{told?: (how: {done: number, of: number, bytes: number}) => void,
 *   signal?: AbortSignal, width: number, words: (step: Step) => object}} how */
export async function strip(on, frames, { told = () => {}, ...how }) {
  let canvas = null;
  let rows = 0;
  let done = 0;
  for await (const { image } of pictures(on, frames, how)) {
    const { width, height } = image;
    rows ||= Math.min(frames.length, Math.max(1, Math.floor(HIGHEST / height)));
    canvas ??= new OffscreenCanvas(width * Math.ceil(frames.length / rows), height * rows);
    const at = [Math.floor(done / rows) * width, (done % rows) * height];
    canvas.getContext("2d").putImageData(image, at[0], at[1]);
    done += 1;
    told({ done, of: frames.length, bytes: 0 });
  }
  return how.signal?.aborted || !canvas ? null : canvas.convertToBlob({ type: "image/png" });
}
