// Where everything stands: pure geometry, a function of the view and of the room there is.

import { partOf } from "../core/partition.js";
import { boxes } from "./boxes.js";

export const PITCH = 40;
const HEAD = { controller: 44, clients: 32, ruler: 28 };
const DENSITIES = {
  comfortable: {
    lane: 124,
    cell: 24,
    cellH: 32,
    water: 60,
    memory: 66,
    marks: 80,
    epochs: 102,
    labels: true,
  },
  cosy: {
    lane: 106,
    cell: 19,
    cellH: 27,
    water: 49,
    memory: 55,
    marks: 67,
    epochs: 86,
    labels: true,
  },
  compact: {
    lane: 56,
    cell: 12,
    cellH: 24,
    water: 39,
    memory: 0,
    marks: 40,
    epochs: 0,
    labels: false,
  },
  dense: { lane: 22, cell: 5, cellH: 11, water: 17, memory: 0, marks: 0, epochs: 0, labels: false },
};

/** The name of the density for so many brokers. */
export function densityFor(brokers) {
  if (brokers <= 4) return "comfortable";
  if (brokers <= 6) return "cosy";
  return brokers <= 12 ? "compact" : "dense";
}

/** How a record is drawn at this pitch: "full" (number and tick), "number", "rect" or "run". */
export function detailFor(pitch) {
  if (pitch >= 26) return "full";
  if (pitch >= 14) return "number";
  return pitch >= 4 ? "rect" : "run";
}

/** First offset drawn as a column.  What is before it is the same everywhere and folded into one
 *  block. The fold moves in jumps of a quarter of the width, so that columns do not slide with
 *  every record. */
export function foldAt({ base, end, same, capacity, unfolded }) {
  if (unfolded || end - base <= capacity) return base;
  const foldable = Math.max(base, same - 2);
  const jump = Math.max(2, Math.floor(capacity / 4));
  const wanted = Math.ceil((end - base - Math.floor(0.8 * capacity)) / jump) * jump;
  const fold = Math.min(foldable, base + wanted);
  return fold - base < 2 ? base : fold;
}

/** The geometry of one view: lanes, the shared offset axis, the heads above it.
 * @param {View} view
 * @param {{width: number, partition?: number, unfolded?: boolean, corner?: number}} room */
export function layout(view, { width, partition = 0, unfolded = false, corner = 0 }) {
  const part = partOf(view, partition);
  const narrow = width < 700;
  const name = densityFor(view.brokers.length);
  const d = DENSITIES[name];
  const gutter = narrow ? 0 : 150;
  const cardW = narrow ? width : width < 900 ? 188 : 216;
  const cardH = narrow ? (name === "dense" ? 0 : 62) : d.lane;
  const logX = narrow ? 8 : gutter + cardW + 12;
  const logW = width - logX - 10;
  const strip = HEAD.controller * (narrow ? 1.9 : 1);
  const top = strip + HEAD.clients;
  const laneH = narrow && cardH ? cardH + d.lane - 8 : d.lane;
  const y0 = top + HEAD.ruler;
  const lanes = new Map();
  view.brokers.forEach((broker, i) => {
    const y = y0 + i * laneH;
    lanes.set(broker.id, {
      id: broker.id,
      y,
      h: laneH,
      mid: y + (narrow ? 16 : laneH / 2),
      log: narrow && cardH ? y + cardH - 3 : y,
    });
  });
  const axis = axisOf(part, logX, logW);
  const geo = {
    kind: "lanes",
    width,
    corner: narrow ? 0 : corner,
    height: y0 + view.brokers.length * laneH + 8,
    narrow,
    density: name,
    d,
    gutter,
    cardX: gutter,
    cardW,
    cardH,
    logX,
    logW,
    laneH,
    lanes,
    y0,
    heads: { controller: 0, strip, clients: strip, ruler: top },
    part,
    ...axis(unfolded),
  };
  return { ...geo, boxes: boxes(geo) };
}

function axisOf(part, logX, logW) {
  const replicas = Object.values(part.replicas);
  const ends = replicas.map((r) => Math.max(r.leo, ...(r.cut ?? []).map((c) => c.o + 1)));
  const end = Math.max(0, ...ends);
  const starts = replicas.map((r) => r.start ?? 0);
  const base = starts.length ? Math.min(...starts) : 0;
  const room = logW - Math.max(84, 18 + 7.3 * `LEO ${end}`.length);
  return (unfolded) => {
    const fold = foldAt({
      base,
      end,
      same: part.same ?? 0,
      capacity: Math.floor(room / PITCH),
      unfolded,
    });
    const foldW = fold > base ? 96 : 0;
    const columns = Math.max(1, end - fold);
    const pitch = Math.min(PITCH, (room - foldW) / columns);
    const left = logX + 10;
    const x = (o) =>
      o <= fold && foldW
        ? left + ((o - base) / (fold - base)) * foldW
        : left + foldW + (o - fold) * pitch;
    return { base, end, fold, foldW, pitch, left, detail: detailFor(pitch), x };
  };
}

/** Where a node of the cluster meets the gutter: [x, y].  Brokers at their card, the rest at the
 *  heads. */
export function anchor(geo, who) {
  const lane = geo.lanes.get(Number(who));
  const x = geo.narrow ? geo.width - 70 : geo.gutter;
  if (lane) return [x, lane.mid];
  if (String(who).startsWith("K")) return [x, geo.heads.controller + 22];
  return [x, geo.heads.clients + 16];
}

/** A point of the way between two anchors, bowed to the left of the gutter. */
export function along(from, to, f, bow = 0) {
  return [
    from[0] + (to[0] - from[0]) * f - bow * Math.sin(Math.PI * f),
    from[1] + (to[1] - from[1]) * f,
  ];
}
