// Encodes frames as they come.  Of each only what differs from the one before is written.
// Import maps do not reach workers: the library is named by its file.

import { GIFEncoder, nearestColorIndex } from "../../vendor/gifenc-1.0.3.mjs";

const CLEAR = 255;      // the palette's last entry: "as before"
let gif = GIFEncoder();
let before = null;

const parts = (pixel) => [pixel & 255, (pixel >>> 8) & 255, (pixel >>> 16) & 255];

/** The commonest colours exactly as they are, so that no ground is tinted; the few others, which
 *  smooth the edges of letters, become the nearest of them. */
function palette(pixels) {
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const all = [...counts].sort((a, b) => b[1] - a[1]).map(([pixel]) => pixel);
  const colours = all.slice(0, CLEAR).map(parts);
  const index = new Map(all.map((pixel, i) => [pixel, i < CLEAR ? i : nearestColorIndex(colours, parts(pixel))]));
  while (colours.length <= CLEAR) colours.push([0, 0, 0]);
  return { colours, index };
}

function frame({ pixels, width, height, delay }) {
  const now = new Uint32Array(pixels);
  const fresh = before ? now.filter((pixel, i) => pixel !== before[i]) : now;
  const { colours, index } = palette(fresh);
  const found = new Uint8Array(now.length);
  for (let i = 0; i < now.length; i += 1) found[i] = before && now[i] === before[i] ? CLEAR : index.get(now[i]);
  gif.writeFrame(found, width, height, { palette: colours, delay, repeat: 0, dispose: 1, transparent: Boolean(before), transparentIndex: CLEAR });
  before = now;
  return { bytes: gif.bytesView().length };
}

onmessage = ({ data }) => {
  if (data.end) {
    gif.finish();
    const made = gif.bytes();
    gif = GIFEncoder();
    before = null;
    postMessage({ made }, [made.buffer]);
  } else postMessage(frame(data));
};
