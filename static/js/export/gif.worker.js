// Encodes frames as they come.  Of each only the box that differs from the one before is written.
// Import maps do not reach workers: the library is named by its file.

import { GIFEncoder, nearestColorIndex } from "../../vendor/gifenc-1.0.3.mjs";
import { changed, Colours } from "./colours.js";

const CLEAR = 255; // the palette's last entry: "as before"
const PLACE = 9; // bytes of a later frame before the place of its box: its timing, and a mark
const NOWHERE = { x: 0, y: 0, w: 1, h: 1 };
const colours = new Colours();
let gif = GIFEncoder();
let before = null;

/** Of each pixel of the box that is new, its colour is counted; neighbours are mostly alike. */
function count(now, width, { x, y, w, h }) {
  colours.clear();
  for (let row = y; row < y + h; row += 1) {
    const end = row * width + x + w;
    let at = end - w;
    while (at < end) {
      const pixel = now[at];
      let fresh = 0;
      for (; at < end && now[at] === pixel; at += 1)
        if (!before || before[at] !== pixel) fresh += 1;
      if (fresh) colours.add(pixel, fresh);
    }
  }
}

function indexed(now, width, { x, y, w, h }) {
  const found = new Uint8Array(w * h);
  let out = 0;
  for (let row = y; row < y + h; row += 1) {
    const end = row * width + x + w;
    let at = end - w;
    while (at < end) {
      const pixel = now[at];
      let own = -1;
      for (; at < end && now[at] === pixel; at += 1) {
        if (before && before[at] === pixel) found[out] = CLEAR;
        else found[out] = own < 0 ? (own = colours.index[colours.slot(pixel)]) : own;
        out += 1;
      }
    }
  }
  return found;
}

function frame({ pixels, width, height, delay }) {
  const now = new Int32Array(pixels);
  // Nothing is transparent; without alpha a colour is a small integer, which costs no memory.
  for (let i = 0; i < now.length; i += 1) now[i] &= 0xffffff;
  const box = before
    ? (changed(now, before, width) ?? NOWHERE)
    : { x: 0, y: 0, w: width, h: height };
  count(now, width, box);
  const palette = colours.palette(CLEAR, nearestColorIndex);
  while (palette.length <= CLEAR) palette.push([0, 0, 0]);
  const start = gif.bytesView().length;
  gif.writeFrame(indexed(now, width, box), box.w, box.h, {
    palette,
    delay,
    repeat: 0,
    dispose: 1,
    transparent: Boolean(before),
    transparentIndex: CLEAR,
  });
  // The library puts every frame into the corner; where it belongs is four bytes.
  if (before) {
    const place = new DataView(gif.buffer, start + PLACE);
    place.setUint16(0, box.x, true);
    place.setUint16(2, box.y, true);
  }
  before = now;
  return { bytes: gif.bytesView().length };
}

onmessage = ({ data }) => {
  if (data.end) {
    gif.finish();
    const made = gif.bytes();
    gif = GIFEncoder();
    before = null;
    postMessage({ made }, { transfer: [made.buffer] });
  } else postMessage(frame(data));
};
