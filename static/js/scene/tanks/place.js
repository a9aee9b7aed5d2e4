// Where one record of a tank is drawn, and how large its letters are.  Pure.

import { fit, textWidth } from "../node.js";

const GAP = 5; // px between two cells

/** The place of one record: {x, y, w, h}. */
export function place(geo, lane, offset) {
  return {
    x: lane.x + geo.gap.pad,
    y: geo.y(offset + 1, lane) + GAP / 2,
    w: lane.w - 2 * geo.gap.pad,
    h: Math.max(1, geo.pitch - GAP),
  };
}

/** A size no larger than `most`, and small enough for the label to fit; `least` at the least. */
export function sized(label, width, most, least = 12, bold = true) {
  const wide = textWidth(label, most, bold);
  return wide <= width ? most : Math.max(least, Math.floor((10 * most * width) / wide) / 10);
}

const LEAST = 10; // px: letters of the shortest version, before it is cut

/** [text, size]: the first version of a label that fits, else the last one, smaller or cut.
 *  A number is never cut: it would be another. */
export function fitted(versions, width, most, least, bold = true) {
  const labels = [versions].flat();
  const fits = labels.find((label) => textWidth(label, least, bold) <= width);
  const label = fits ?? labels.at(-1);
  const size = sized(label, width, most, fits ? least : Math.min(least, LEAST), bold);
  const whole = /^\d+$/.test(label);
  return /** @type {[string, number]} */ ([whole ? label : fit(label, width, size, bold), size]);
}

/** "a · b · c" and its versions without the last parts: "a · b", "a". */
export const shorter = (label) =>
  label.split(" · ").map((_, less, parts) => parts.slice(0, parts.length - less).join(" · "));
