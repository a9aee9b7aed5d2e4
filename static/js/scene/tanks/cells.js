// The records in a tank: cells with their names, what is folded, what was cut, what is gone.  Pure.

import { cellWords } from "../cellwords.js";
import { epochClass, g, icon, path, rect, text, textWidth, title } from "../node.js";
import { ghosts, gone } from "./gone.js";
import { place, sized } from "./place.js";
import { remotePart } from "./store.js";

/** Everything in the tank of one replica, from its floor up. */
export function stack(geo, lane, broker, ctx) {
  const replica = geo.part.replicas[broker.id];
  if (!replica) return [];
  return [
    ...folded(geo, lane, broker, replica, ctx),
    ...runs(geo, lane, broker, replica),
    ...cells(geo, lane, broker, replica, ctx),
    ...remotePart(geo, lane, replica, ctx),
    ...sediment(geo, lane, replica, ctx),
    ...(ctx.layers.has("ghosts") ? ghosts(geo, lane, broker, replica, ctx) : []),
    ...gone(geo, lane, broker, replica, ctx),
  ];
}

/** What was deleted at the log's start has sunk into the floor. */
function sediment(geo, lane, replica, { t }) {
  if (!replica.start) return [];
  const y = geo.y(Math.max(replica.start, geo.base), lane);
  const h = lane.floor - y;
  if (h < 2) return [];
  const words = t("mark.starts", { o: replica.start });
  return [
    g("start", [
      rect("r", lane.x + 1.5, y, lane.w - 3, h - 1.5, "seabed", { rx: geo.full ? 6 : 2 }),
      rect("h", lane.x + 1.5, y, lane.w - 3, h - 1.5, "sediment", { rx: geo.full ? 6 : 2 }),
      geo.full &&
        h >= 14 &&
        text("t", lane.mid, y + h / 2 + 4, words, "small", {
          "text-anchor": "middle",
          "font-size": sized(words, lane.w - 8, 11),
        }),
      title("title", t("mark.sunk", { o: replica.start })),
    ]),
  ];
}

/** What is deep and equal everywhere, as one block. */
function folded(geo, lane, broker, replica, { t }) {
  if (!geo.foldH || replica.leo <= geo.base) return [];
  const x = lane.x + geo.gap.pad;
  const w = lane.w - 2 * geo.gap.pad;
  const end = Math.min(geo.fold, replica.leo);
  const parts = replica.runs
    .filter(([from]) => from < end)
    .map(([from, to, e]) => {
      const y = geo.y(Math.min(to, end), lane);
      const h = geo.y(Math.max(from, geo.base), lane) - y;
      return rect(`f${from}`, x, y + 1, w, Math.max(1, h - 2), `fold ${epochClass(e)}`, { rx: 3 });
    });
  if (!parts.length) return [];
  const words = `${geo.base} … ${end - 1}`;
  const y = geo.y(geo.fold, lane);
  return [
    g(
      "folded",
      [
        ...parts,
        path("tear", tear(x, y + 1, w), "foldedge"),
        geo.full &&
          text("t", lane.mid, lane.floor - geo.sunk - geo.foldH / 2 + 4, words, "num", {
            "font-size": sized(words, w - 6, 12),
          }),
        title("title", t("cell.folded", { a: geo.base, b: end - 1 })),
      ],
      geo.full ? { "data-id": `b${broker.id}:same` } : {},
    ),
  ];
}

const tear = (x, y, w) => `M${x} ${y}l${w / 4} -3l${w / 4} 6l${w / 4} -6l${w / 4} 3`;

/** Epoch runs where single records are not drawn: the far past, and logs too deep for cells. */
function runs(geo, lane, broker, replica) {
  const first = geo.detail === "run" ? Infinity : (replica.records[0]?.o ?? replica.leo);
  return replica.runs
    .filter(([from, to]) => to > geo.fold && from < first)
    .map(([from, to, e]) => {
      const y = geo.y(Math.min(to, first, replica.leo), lane);
      const foot = geo.y(Math.max(from, geo.fold, replica.start ?? 0), lane);
      const x = lane.x + geo.gap.pad;
      const w = lane.w - 2 * geo.gap.pad;
      return rect(`run${from}`, x, y, w, Math.max(1, foot - y), `cell ${epochClass(e)}`, {
        "data-id": `b${broker.id}:run${from}`,
        "data-run": `${from}/${Math.min(to, replica.leo)}/${e}`,
      });
    });
}

function cells(geo, lane, broker, replica, ctx) {
  if (geo.detail === "run") return [];
  return replica.records
    .filter((r) => r.o >= geo.fold && r.o < replica.leo)
    .map((r) => cell(geo, lane, broker, replica, r, ctx));
}

function cell(geo, lane, broker, replica, r, ctx) {
  const { x, y, w, h } = place(geo, lane, r.o);
  const differs = geo.part.differ && r.o >= geo.part.differ[0] && r.o < geo.part.differ[1];
  const open = r.o >= replica.hw;
  const lost = ctx.lost.has(r.id);
  const remote = r.o < (replica.local ?? 0);
  const flags = [open && "open", differs && "differs", lost && "lost", remote && "remote"]
    .filter(Boolean)
    .join(" ");
  const rx = h >= 16 ? 5 : 1;
  const named = geo.detail === "full" && w >= 22 && r.o >= (replica.start ?? 0);
  const parts = [
    rect("r", x, y, w, h, `cell ${epochClass(r.e)} ${flags}`, { rx }),
    ...(named ? face(r, { x, y, w, h }, lost) : []),
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
function face(r, { x, y, w, h }, lost) {
  const label = String(r.id ?? "");
  const size = Math.min(20, Math.max(10, h * 0.46));
  const tick = r.acked && w >= 34;
  // Where the tick stands in the corner, a long name takes the width below it.
  const corner = tick && h >= 36 && textWidth(label, size, true) > w - 26;
  const small = sized(label, w - (tick && !corner ? 26 : 6), size);
  const aside = tick && !corner && textWidth(label, small, true) > w - 42;
  const mid = x + w / 2 - (aside ? 5 : 0);
  const scale = h >= 30 ? 1.35 : 1;
  const far = x + w - 7 - 7 * scale;
  return [
    text("n", mid, y + h * (corner ? 0.64 : 0.5) + small * 0.36, label, "num name", {
      "font-size": small,
    }),
    tick &&
      path(
        "ok",
        `M${far} ${y + h / 2 - (h >= 30 ? 8 : 0)}` +
          `l${2.6 * scale} ${2.6 * scale}l${4.6 * scale} ${-5.2 * scale}`,
        "acked",
      ),
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
