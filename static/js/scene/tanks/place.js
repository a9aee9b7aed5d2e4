// Where one record of a tank is drawn, and how large its letters are.  Pure.

import { textWidth } from "../node.js";

const gapOf = (pitch) => (pitch >= 24 ? 5 : pitch >= 12 ? 3 : pitch >= 6 ? 1 : 0.4);

/** The place of one record: {x, y, w, h}. */
export function place(geo, lane, offset) {
  const gap = gapOf(geo.pitch);
  return {
    x: lane.x + geo.gap.pad,
    y: geo.y(offset + 1, lane) + gap / 2,
    w: lane.w - 2 * geo.gap.pad,
    h: Math.max(1, geo.pitch - gap),
  };
}

/** A text no larger than `most`, and small enough to fit. */
export function sized(label, width, most, bold = true) {
  const wide = textWidth(label, most, bold);
  return wide <= width ? most : Math.max(6, Math.floor((10 * most * width) / wide) / 10);
}
