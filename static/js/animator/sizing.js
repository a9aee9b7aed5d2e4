// How much room the stage has.

import { side } from "./reality.js";
import * as s from "./state.js";

const LOW = 150; // px a stage of tanks is high at least
const SAID = 104; // px that what is said of real brokers takes below the pictures

const rooms = new WeakMap();

/** Measures the room of a host.  At every step that would make the browser lay out the page in the
 *  middle of drawing. */
export function measure(host) {
  const { clientHeight } = host.parentElement;
  const room = { high: Math.max(clientHeight, setAside(host)), width: host.clientWidth };
  rooms.set(host, room);
  return room;
}
const roomOf = (host) => rooms.get(host) ?? measure(host);

/** px that a page that scrolls sets aside for its stage, 0 where the board has a height. */
const setAside = (box) => parseFloat(getComputedStyle(box.closest("#stagebox")).minHeight) || 0;

const heightIn = (high) => Math.max(LOW, high - (side.value === "model" ? 0 : SAID));

/** The height for a picture that stands beside the stage. */
export const roomBelow = (place) => heightIn(place.closest("#stagebox").clientHeight);

/** The room and the words of the stage. */
export const sized = (host) => ({
  width: Math.max(280, Math.floor(roomOf(host).width)),
  height: heightIn(roomOf(host).high),
  highest: s.tapeNow.value?.highest ?? {},
  partition: s.partition.value,
  guest: s.guest.value,
  skip: s.skip.value,
  unfolded: s.unfolded.value,
  layers: s.layers.value,
  t: s.t.value,
  name: s.name.value,
});
