// Remote storage: a card with its segments, and what a tank has only there.  Pure.

import { epochClass, fit, g, line, path, rect, text, textWidth, title } from "../node.js";
import { groupBand } from "./groups.js";

const HEIGHT = 58;
const CHIP = 22;

/** Height of the cards over the tanks, in px: those of groups, or that of remote storage. */
export const cardBand = (view) => groupBand(view) + (view.store ? HEIGHT + 6 : 0);

function stateOf({ up, slow }) {
  if (!up) return "store.down";
  return slow ? "store.slow" : "store.head";
}

/** The card: whether the store answers, and the segments of the partition on the stage. */
export function store(geo, view, { t }) {
  if (!view.store) return null;
  const x = geo.side || 8;
  const [y, w] = [geo.heads.sky - HEIGHT, geo.width - 2 * x];
  const { small } = geo.type;
  const segments = view.store.segments.filter((one) => one.p === geo.part.p);
  const head = t(stateOf(view.store), { n: view.store.slow });
  const words = segments.map((one) =>
    t(one.read ? "store.segment" : "store.unread", { p: geo.part.name, a: one.first, o: one.last }),
  );
  return g(
    "store",
    [
      rect("bg", x, y, w, HEIGHT - 4, `client store ${view.store.up ? "" : "down"}`, { rx: 8 }),
      text("head", x + 11, y + 18, fit(head, w - 22, small, true), "strong", {
        "font-size": small,
      }),
      ...chips(segments, x + 11, y + 26, w - 22, t, small),
      title("title", [head, ...(words.length ? words : [t("store.empty")])].join(" · ")),
    ],
    {
      class: "remotestore",
      role: "img",
      "aria-label": [head, ...words].join(" · "),
      "data-id": "store",
      "data-up": view.store.up ? 1 : 0,
    },
  );
}

function chips(segments, x, y, room, t, small) {
  const style = { style: `font-size:${small}px` };
  if (!segments.length) return [text("none", x, y + 15, t("store.empty"), "small", style)];
  const found = [];
  let at = x;
  for (const [i, one] of segments.entries()) {
    const label = one.first === one.last ? `${one.first}` : `${one.first}–${one.last}`;
    const w = Math.max(30, textWidth(label, small, true) + 14);
    const last = i === segments.length - 1;
    if (at + w > x + room - (last ? 0 : 60)) {
      const more = t("store.more", { n: segments.length - i });
      found.push(text("more", at, y + 15, fit(more, x + room - at, small), "small", style));
      break;
    }
    const e = one.epochs.at(-1)?.[0] ?? 0;
    found.push(
      g(`s${i}`, [
        rect("r", at, y, w, CHIP, `cell ${epochClass(e)} ${one.read ? "" : "unread"}`, { rx: 5 }),
        text("t", at + w / 2, y + 15, label, "num name", {
          "text-anchor": "middle",
          "font-size": small,
        }),
        !one.read && path("x", `M${at + 4} ${y + 4}L${at + w - 4} ${y + CHIP - 4}`, "ghostx"),
      ]),
    );
    at += w + 6;
  }
  return found;
}

/** What lies between the log start and the local one: in remote storage only. */
export function remotePart(geo, lane, replica, { t }) {
  const start = Math.max(replica.start ?? 0, geo.base);
  if (replica.local === undefined || replica.local <= start) return [];
  const [top, low] = [geo.y(replica.local, lane), geo.y(start, lane)];
  const h = low - top;
  if (h < 2) return [];
  const numbers = { a: start, o: replica.local - 1 };
  const words = t("tank.remote.short", numbers);
  const x = lane.x + lane.w + 6;
  const { small } = geo.type;
  const fits = textWidth(words, small) <= Math.min(lane.left + geo.col, geo.width) - x - 2;
  return [
    g(
      "remote",
      [
        rect("r", lane.x + 1.5, top, lane.w - 3, h - 1.5, "remotepart", { rx: 6 }),
        line("edge", lane.x + 2, top, lane.x + lane.w - 2, top, "remoteedge"),
        fits && text("t", x, low - 6, words, "small", { style: `font-size:${small}px` }),
        title("title", t("tank.remote", numbers)),
      ],
      { "data-id": `remote${lane.id ?? ""}`, "data-local": replica.local },
    ),
  ];
}
