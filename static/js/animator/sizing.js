// How much room the stage has, and how large it draws in it.

import { layout, PITCH } from "../scene/layout.js";
import { side } from "./reality.js";
import * as s from "./state.js";

/** How much larger than life: a wide and high window shows the same stage in bigger letters. */
function zoomFor(view, host) {
  if (s.view.value === "tanks") return 1;
  const { w, h } = roomOf(host);
  const { height } = layout(view, { width: w, partition: s.partition.value });
  const columns = Math.min(16, Math.max(5, s.tapeNow.value?.widest ?? 0));
  return w < 780
    ? 1
    : Math.min(
        1.5,
        Math.max(1, Math.min(w / Math.max(720, 460 + columns * PITCH), (h - 8) / height)),
      );
}

/** How a view is drawn on this host: {zoom, ...the room, the words}. */
export function options(view, host) {
  const zoom = zoomFor(view, host);
  return { zoom, ...sized(zoom, host) };
}
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
/** The room and the words of the stage at this zoom. */
export const sized = (zoom, host) => ({
  corner: roomOf(host).corner / zoom,
  width: Math.max(280, Math.floor(roomOf(host).width / zoom)),
  height: heightIn(roomOf(host).h, roomOf(host).set),
  widest: s.tapeNow.value?.widest ?? 0,
  partition: s.partition.value,
  unfolded: s.unfolded.value,
  layers: s.layers.value,
  t: s.t.value,
  name: s.name.value,
});
