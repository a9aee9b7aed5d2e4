// Remote storage: a shelf below the tanks, to which segments sink.  Pure.

import { epochClass, g, path, rect, text, title } from "../node.js";
import { fitted } from "./place.js";

const GAP = 4; // px over and under the segments of a shelf
const LEAST = 7; // px of a segment

/** First offset that lies on a replica's own disk. */
export const localOf = (replica) => Math.max(replica.start ?? 0, replica.local ?? 0);

function stateOf({ up, slow }) {
  if (!up) return "store.down";
  return slow ? "store.slow" : "store.head";
}

/** The board below all tanks: whose shelf it is, and whether the store answers. */
export function board(geo, { store }, { t }) {
  const lanes = [...geo.lanes.values()];
  if (!geo.shelf.h || !lanes.length) return null;
  const { small } = geo.type;
  const [x, end] = [lanes[0].x - 4, lanes.at(-1).x + lanes.at(-1).w + 4];
  const h = small + 6;
  const y = geo.shelf.y + geo.shelf.h - h;
  const [words, size] = fitted(t(stateOf(store), { n: store.slow }), end - x - 8, small, small);
  const state = store.up ? "" : "down";
  return g(
    "board",
    [
      rect("r", x, y, end - x, h, `tierboard ${state}`, { rx: 3 }),
      text("t", (x + end) / 2, y + h / 2 + size * 0.36, words, `small ${store.up ? "" : "bad"}`, {
        middle: true,
        size,
      }),
    ],
    { role: "img", "aria-label": words, "data-id": "store", "data-up": store.up ? 1 : 0 },
  );
}

/** What a replica has on the shelf: what has left its disk, then copies of what it still has:
 *  [{first, last, gone, segments}]. */
function held(segments, replica) {
  const [start, local] = [replica.start ?? 0, localOf(replica)];
  const mine = segments.filter((one) => one.last >= start);
  const copies = mine.filter((one) => one.last >= local);
  const sunk = { first: start, last: local - 1, gone: true };
  return [
    local > start && { ...sunk, segments: mine.filter((one) => one.last < local) },
    copies.length && {
      first: copies[0].first,
      last: copies.at(-1).last,
      gone: false,
      segments: copies,
    },
  ].filter(Boolean);
}

const range = ({ first, last }) => (first === last ? `${first}` : `${first}–${last}`);

/** The segments below one tank. */
export function segments(geo, view, lane, broker, replica, { t }) {
  if (!geo.shelf.h || !replica) return [];
  const parts = held(
    view.store.segments.filter((one) => one.p === geo.part.p),
    replica,
  );
  if (!parts.length) return [];
  const { small } = geo.type;
  const w = (lane.w - GAP * (parts.length - 1)) / parts.length;
  const [y, h] = [geo.shelf.y + GAP, geo.shelf.h - small - 6 - 2 * GAP];
  return parts.map((part, i) => {
    const x = lane.x + i * (w + GAP);
    const unread = part.segments.some((one) => !one.read);
    const key = !part.segments.length ? "bare" : unread ? "unread" : part.gone ? "only" : "copy";
    const [words, size] = fitted(range(part), w - 4, Math.min(small, h - 2), 9);
    return g(
      part.gone ? "sunk" : "copies",
      [
        g("blocks", blocks(part, x, y, w, h)),
        rect("r", x, y, w, h, `shelved ${key}`, { rx: 2 }),
        text("t", x + w / 2, y + h / 2 + size * 0.36, words, "num name", { "font-size": size }),
        title("title", t(`store.${key}`, { a: part.first, o: part.last })),
      ],
      { class: `tiered ${key}`, "data-id": `b${broker.id}:${part.gone ? "sunk" : "copies"}` },
    );
  });
}

/** One block a segment, crossed where the leader cannot read it; the oldest in one, if many. */
function blocks({ segments: all }, x, y, w, h) {
  const most = Math.max(1, Math.floor(w / LEAST));
  const shown = all.slice(-most);
  const each = w / shown.length;
  return shown.flatMap((one, i) => {
    const left = x + i * each;
    const e = one.epochs.at(-1)?.[0] ?? 0;
    return [
      rect(`s${one.first}`, left, y, each, h, `cell ${epochClass(e)}`),
      !one.read &&
        path(`x${one.first}`, `M${left + 3} ${y + 3}L${left + each - 3} ${y + h - 3}`, "ghostx"),
    ].filter(Boolean);
  });
}
