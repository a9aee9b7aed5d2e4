// How much room the stage has.

import { side } from "./reality.js";
import * as s from "./state.js";

const LOW = 280; // px a stage of tanks is high at least
const SAID = 104; // px that what is said of real brokers takes below the pictures

const rooms = new WeakMap();

/** Measures the room of a host anew.  To ask for it at every step would make the browser lay out
 *  the page in the middle of drawing. */
export function measure(host) {
  const { clientWidth: w, clientHeight: h } = host.parentElement;
  const shown = document.querySelector("#corner > *")?.getClientRects().length;
  const corner = shown ? CORNER : 0;
  const room = { w, h, width: host.clientWidth, set: setAside(host), corner };
  rooms.set(host, room);
  return room;
}
const roomOf = (host) => rooms.get(host) ?? measure(host);

/** px that a page that scrolls sets aside for its stage, 0 where the board has a height. */
const setAside = (box) => parseFloat(getComputedStyle(box.closest("#stagebox")).minHeight) || 0;

/** How high the tanks may be: what the board leaves them, or what a scrolling page sets aside. */
function heightIn(high, aside) {
  const said = side.value === "model" || aside > 0 ? 0 : SAID;
  return Math.max(LOW, (aside > 0 ? aside : high) - 8 - said);
}

/** The same for a picture that stands beside the stage. */
export const roomBelow = (place) =>
  heightIn(place.closest("#stagebox").clientHeight, setAside(place));

const CORNER = 268; // px the controls in the corner take beside the clients

/** The room and the words of the stage. */
export const sized = (host) => ({
  corner: roomOf(host).corner,
  width: Math.max(280, Math.floor(roomOf(host).width)),
  height: heightIn(roomOf(host).h, roomOf(host).set),
  widest: s.tapeNow.value?.widest ?? 0,
  partition: s.partition.value,
  unfolded: s.unfolded.value,
  layers: s.layers.value,
  t: s.t.value,
  name: s.name.value,
});
