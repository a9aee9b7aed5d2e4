// Where everything stands when logs are tanks: offset is height, the same in all of them.  Pure.

import { partOf } from "../../core/partition.js";
import { cardBand } from "./store.js";
import { BAND, voterLanes } from "./voters.js";

/** Least width of a column, in px, with all its words, and with a name and marks alone. */
const FULL = 100;
const LEAST = 34;
/** Least height of a tank, in px: alone in a small frame, and where rows of them scroll anyway. */
const LEAST_H = [120, 170];
const ROOM = {
  wide: {
    strip: 40,
    clients: 0,
    sky: 78,
    foot: 96,
    head: 30,
    fold: 36,
    sunk: 20,
    cell: 40,
    most: 72,
  },
  narrow: {
    strip: 44,
    clients: 32,
    sky: 58,
    foot: 84,
    head: 22,
    fold: 30,
    sunk: 16,
    cell: 26,
    most: 44,
  },
};
const SIDE = 136;
const SHARE = 0.86; // of a tank's height the tallest stack may fill

/** First offset drawn as a cell.  What is before it is the same everywhere and folded into one
 *  block. The fold moves in jumps of a quarter of the height, so that cells do not slide
 *  with every record. */
export function foldAt({ base, end, same, capacity, unfolded }) {
  if (unfolded || end - base <= capacity) return base;
  const foldable = Math.max(base, same - 2);
  const jump = Math.max(2, Math.floor(capacity / 4));
  const wanted = Math.ceil((end - base - Math.floor(0.8 * capacity)) / jump) * jump;
  const fold = Math.min(foldable, base + wanted);
  return fold - base < 2 ? base : fold;
}

/** How a record is drawn at this height: "full" (name and tick), "rect" or "run". */
function detailFor(pitch) {
  if (pitch >= 16) return "full";
  return pitch >= 4 ? "rect" : "run";
}

function endsOf(part) {
  const replicas = Object.values(part.replicas);
  const end = Math.max(
    0,
    ...replicas.map((r) => Math.max(r.leo, r.hw, ...(r.cut ?? []).map((c) => c.o + 1))),
  );
  const base = replicas.length ? Math.min(...replicas.map((r) => r.start ?? 0)) : 0;
  return { base, end };
}

/** Columns side by side, in as many rows as it takes for each to have room for its name. */
function columns(brokers, from, area) {
  const perRow = Math.max(1, Math.min(brokers.length, Math.floor(area / LEAST)));
  const rows = Math.ceil(brokers.length / perRow) || 1;
  const each = Math.ceil(brokers.length / rows) || 1;
  const col = Math.min(310, area / each);
  const left = from + (area - col * each) / 2;
  return { rows, each, col, left };
}

function gaps(col) {
  if (col >= 220) return { left: 58, right: 58, pad: 14 };
  if (col >= 150) return { left: 50, right: 44, pad: 10 };
  if (col >= FULL) return { left: 24, right: 42, pad: 5 };
  return { left: col * 0.16, right: col * 0.16, pad: col >= 60 ? 4 : 2 };
}

/** The geometry of one view for a stage of this size, in px.  `widest`: records the tallest log of
 *  the run has in the end, so that the scale stays the same all the way.
 * @param {View} view
 * @param {{width: number, height?: number, partition?: number, unfolded?: boolean,
 *   corner?: number, widest?: number}} room */
export function layout(
  view,
  { width, height = 560, partition = 0, unfolded = false, corner = 0, widest = 0 },
) {
  const part = partOf(view, partition);
  const narrow = width < 700;
  const many = view.brokers.length > 6;
  const room = { ...ROOM[narrow ? "narrow" : "wide"] };
  const side = narrow || many || width < 900 || !view.clients.length ? 0 : SIDE;
  if (!narrow && !side) room.clients = 34;
  const cols = columns(view.brokers, side, width - 2 * side);
  const full = cols.col >= FULL;
  if (!full) room.foot = 54;
  const band = view.quorum ? BAND[narrow ? "narrow" : "wide"] : 0;
  const bandOfGroups = cardBand(view, narrow);
  const sky = room.strip + room.clients + band + bandOfGroups;
  const top = sky + (band + bandOfGroups ? 48 : room.sky);
  const tall = Math.max(height, top + cols.rows * (room.foot + LEAST_H[cols.rows > 1 ? 1 : 0]));
  const whole = Math.round((tall - top) / cols.rows - room.foot);
  const axis = scale(part, { room, inner: whole, unfolded, widest });
  // A tube ends one cell above the highest end of the run.
  const needed = Math.ceil(room.head + axis.foldH + axis.sunk + (axis.rows + 1) * axis.pitch);
  const inner = Math.min(whole, Math.max(LEAST_H[0], needed));
  const rowH = inner + room.foot;
  const geo = {
    width,
    height: top + cols.rows * rowH,
    narrow,
    full,
    side,
    corner,
    part,
    density: full ? "comfortable" : cols.col >= 60 ? "compact" : "dense",
    d: { labels: full },
    heads: { strip: room.strip, clients: room.strip, sky },
    voters:
      view.quorum &&
      voterLanes(view.quorum, { width, narrow, side, corner, top: sky - band - bandOfGroups }),
    groupBand: bandOfGroups,
    top,
    col: cols.col,
    gap: gaps(cols.col),
    ...axis,
  };
  const bed = (lane) => lane.floor - geo.sunk;
  const y = (offset, lane) =>
    offset <= geo.fold && geo.foldH
      ? bed(lane) - (Math.max(0, offset - geo.base) / (geo.fold - geo.base)) * geo.foldH
      : bed(lane) - geo.foldH - (offset - geo.fold) * geo.pitch;
  return { ...geo, lanes: lanes(view, geo, { cols, rowH, inner }), y };
}

/** Which offsets are drawn one by one, and how high each is. */
function scale(part, { room, inner, unfolded, widest }) {
  const { base, end } = endsOf(part);
  const space = inner - room.head;
  const capacity = Math.max(5, Math.floor((space - room.fold) / room.cell));
  const fold = foldAt({ base, end, same: part.same ?? 0, capacity, unfolded });
  const foldH = fold > base ? room.fold : 0;
  const rows = Math.max(end - fold, Math.min(widest - (fold - base), capacity), 4);
  const most = Math.min(room.most, (SHARE * space + (1 - SHARE) * 40 - foldH) / rows);
  const pitch = most >= 8 ? Math.floor(most) : most;
  // What every log has deleted is one layer, however much it was.
  const sunk = base > 0 ? room.sunk : 0;
  return { base, end, fold, foldH, foldW: foldH, sunk, rows, pitch, detail: detailFor(pitch) };
}

function lanes(view, geo, { cols, rowH, inner }) {
  const { record } = geo.part;
  return new Map(
    view.brokers.map((broker, i) => {
      const row = Math.floor(i / cols.each);
      const at = i % cols.each;
      const top = Math.round(geo.top + row * rowH);
      // Who is out of the ISR stands a little apart from those in the middle, as there is room.
      const out = record.leader !== broker.id && !record.isr.includes(broker.id);
      const way = out && geo.full && !geo.narrow ? Math.sign(at - (cols.each - 1) / 2 || 1) : 0;
      const apart = way * (at ? 12 : Math.min(12, cols.left));
      const left = cols.left + at * cols.col;
      const x = left + geo.gap.left + apart;
      const w = cols.col - geo.gap.left - geo.gap.right;
      const wide = Math.min(w, 190);
      const tank = x + (w - wide) / 2;
      return [
        broker.id,
        {
          id: broker.id,
          row,
          top,
          floor: top + inner,
          left,
          x: tank,
          w: wide,
          mid: tank + wide / 2,
          foot: top + inner,
        },
      ];
    }),
  );
}

/** Where a node of the cluster is met by what travels: [x, y], at the height of an offset. */
export function anchor(geo, who, offset) {
  const lane = geo.lanes.get(Number(who));
  if (lane) return [lane.mid, offset === undefined ? lane.top + 6 : geo.y(offset, lane)];
  const name = String(who);
  const voter = geo.voters?.lanes.get(name);
  if (voter) return [voter.mid, voter.floor - 10];
  if (name.startsWith("K")) return [geo.width / 2, geo.heads.strip / 2];
  if (!geo.side) return [name.startsWith("P") ? 60 : geo.width - 60, geo.heads.clients + 16];
  return [name.startsWith("P") ? geo.side / 2 : geo.width - geo.side / 2, geo.top + 30];
}
