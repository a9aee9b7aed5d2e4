// The records in a tank: cells with their names, what is folded, what was cut, what is gone.  Pure.

import { cellWords } from "../cellwords.js";
import { epochClass, g, icon, path, rect, text, textWidth, title } from "../node.js";
import { ghosts, gone } from "./gone.js";
import { fitted, place } from "./place.js";
import { localOf } from "./shelf.js";

/** Everything in the tank of one replica, from its floor up. */
export function stack(geo, lane, broker, ctx) {
  const replica = geo.part.replicas[broker.id];
  if (!replica) return [];
  return [
    ...folded(geo, lane, broker, replica, ctx),
    ...runs(geo, lane, broker, replica),
    ...cells(geo, lane, broker, replica, ctx),
    ...sediment(geo, lane, replica, ctx),
    ...(ctx.layers.has("ghosts") ? ghosts(geo, lane, broker, replica, ctx) : []),
    ...gone(geo, lane, broker, replica, ctx),
  ];
}

/** What is no more on the disk, deleted at the log's start or sunk to the shelf, is floor. */
function sediment(geo, lane, replica, { t }) {
  const y = geo.y(Math.max(localOf(replica), geo.base), lane);
  const h = lane.floor - y;
  if (!localOf(replica) || h < 2) return [];
  const sunk = replica.local > replica.start;
  const key = sunk ? "store.only" : "mark.sunk";
  const { small } = geo.type;
  const [words, size] = fitted(
    sunk ? t("tank.remote") : t("mark.starts", { o: replica.start }),
    lane.w - 8,
    small,
    small,
    false,
  );
  return [
    g("start", [
      rect("r", lane.x + 1.5, y, lane.w - 3, h - 1.5, "seabed", { rx: 6 }),
      rect("h", lane.x + 1.5, y, lane.w - 3, h - 1.5, "sediment", { rx: 6 }),
      text("t", lane.mid, y + h / 2 + 5, words, "small", { middle: true, size }),
      title("title", t(key, { a: replica.start, o: sunk ? replica.local - 1 : replica.start })),
    ]),
  ];
}

/** What is older than there is room for, as one line that counts it. */
function folded(geo, lane, broker, replica, { t }) {
  const start = Math.max(geo.base, localOf(replica));
  const end = Math.min(geo.fold, replica.leo);
  if (!geo.foldH || end <= start) return [];
  const x = lane.x + geo.gap.pad;
  const w = lane.w - 2 * geo.gap.pad;
  const foot = lane.floor - geo.sunk;
  const parts = replica.runs
    .filter(([from]) => from < end)
    .map(([from, to, e]) => {
      const y = geo.y(Math.min(to, end), lane);
      const h = geo.y(Math.max(from, geo.base), lane) - y;
      return rect(`f${from}`, x, y + 1, w, Math.max(1, h - 2), `fold ${epochClass(e)}`, { rx: 3 });
    });
  if (!parts.length) return [];
  const n = end - start;
  const committed = Object.values(geo.part.replicas).every((one) => one.hw >= end);
  const { small } = geo.type;
  const whole = t(committed ? "cell.earlier.committed" : "cell.earlier", { n });
  const [words, size] = fitted([whole, t("cell.earlier", { n }), String(n)], w - 6, small, small);
  return [
    g(
      "folded",
      [
        ...parts,
        path("tear", tear(x, geo.y(geo.fold, lane) + 1, w), "foldedge"),
        text("t", lane.mid, foot - geo.foldH / 2 + size * 0.36, words, "num", {
          "font-size": size,
        }),
        title("title", t("cell.folded", { a: start, b: end - 1 })),
      ],
      { "data-id": `b${broker.id}:same`, "data-count": n },
    ),
  ];
}

const tear = (x, y, w) => `M${x} ${y}l${w / 4} -3l${w / 4} 6l${w / 4} -6l${w / 4} 3`;

/** Epoch runs where single records are not known: the far past of an unfolded log. */
function runs(geo, lane, broker, replica) {
  const first = replica.records[0]?.o ?? replica.leo;
  return replica.runs
    .filter(([from, to]) => to > geo.fold && from < first)
    .map(([from, to, e]) => {
      const y = geo.y(Math.min(to, first, replica.leo), lane);
      const foot = geo.y(Math.max(from, geo.fold, localOf(replica)), lane);
      const x = lane.x + geo.gap.pad;
      const w = lane.w - 2 * geo.gap.pad;
      return rect(`run${from}`, x, y, w, Math.max(1, foot - y), `cell ${epochClass(e)}`, {
        "data-id": `b${broker.id}:run${from}`,
        "data-run": `${from}/${Math.min(to, replica.leo)}/${e}`,
      });
    });
}

function cells(geo, lane, broker, replica, ctx) {
  return replica.records
    .filter((r) => r.o >= Math.max(geo.fold, localOf(replica)) && r.o < replica.leo)
    .map((r) => cell(geo, lane, broker, replica, r, ctx));
}

function cell(geo, lane, broker, replica, r, ctx) {
  const { x, y, w, h } = place(geo, lane, r.o);
  const differs = geo.part.differ && r.o >= geo.part.differ[0] && r.o < geo.part.differ[1];
  const open = r.o >= replica.hw;
  const lost = ctx.lost.has(r.id);
  const flags = [open && "open", differs && "differs", lost && "lost"].filter(Boolean).join(" ");
  const parts = [
    rect("r", x, y, w, h, `cell ${epochClass(r.e)} ${flags}`, { rx: 6 }),
    ...face(r, { x, y, w, h }, lost, geo.type.small),
    ...unflushed(replica, r, { x, y, w, h }),
    title("title", cellWords(geo.part, broker.id, r, open, ctx)),
  ];
  const data = {
    class: `record ${lost ? "lostone" : ""}`,
    "data-id": `b${broker.id}:o${r.o}`,
    "data-record": r.id ?? "",
    "data-epoch": r.e,
    "data-open": open ? 1 : 0,
    "data-acked": r.acked ? 1 : 0,
  };
  return g(`o${r.o}-${r.e}-${r.id}`, parts, data, { enter: "land" });
}

/** Its name, a tick when it was acknowledged, an eye when it was read. */
function face(r, { x, y, w, h }, lost, least) {
  const most = Math.min(32, h * 0.46);
  const [label, size] = fitted(String(r.id ?? ""), w - 6, Math.max(least, most), least);
  // The tick stands beside the name, or where there is no room in the corner above it.
  const wide = textWidth(label, size, true);
  const tick = r.acked && w >= 34 && (wide <= w - 34 || h >= 34);
  const far = x + w - 15;
  const high = wide <= w - 34 ? y + h / 2 : y + 10;
  return [
    text("n", x + w / 2, y + h * 0.5 + size * 0.36, label, "num name", { "font-size": size }),
    tick && path("ok", `M${far} ${high}l3 3l6 -7`, "acked"),
    r.read && w >= 60 && icon("eye", "eye", x + 5, y + 4, Math.min(13, h * 0.4), "seen"),
    lost && w >= 34 && path("lostx", `M${x + 5} ${y + h - 5}l8-8m0 8l-8-8`, "lostx"),
  ];
}

/** Not yet on disk: a ragged lower edge, which a power cut washes away. */
function unflushed(replica, r, { x, y, w, h }) {
  if (h < 20 || replica.flushed === undefined || r.o < replica.flushed) return [];
  const teeth = Math.max(3, Math.round(w / 9));
  const step = w / teeth;
  const zig = Array.from({ length: teeth }, () => `l${step / 2} -3l${step / 2} 3`).join("");
  return [path("ragged", `M${x} ${y + h}${zig}`, "ragged")];
}
