// Where everything stands when logs are tanks: offset is height, the same in all of them.  Pure.

import { partOf } from "../../core/partition.js";
import { USUAL } from "../layers.js";
import { groupBand } from "./groups.js";
import { localOf } from "./shelf.js";
import { BAND, voterLanes } from "./voters.js";

/** Letters and rooms in px: on a desk, and on a phone.  `least`: a column; `cell`: a record with
 *  the gap above it. */
export const ROOM = {
  wide: {
    type: { name: 20, role: 15, mark: 15, small: 14 },
    least: 104,
    cell: 41,
    tallest: 150,
    strip: 34,
    clients: 38,
    sky: 38,
    foot: 78,
    fold: 34,
    sunk: 24,
    shelf: 50,
    others: 40,
  },
  narrow: {
    type: { name: 15, role: 12.5, mark: 12.5, small: 12 },
    least: 74,
    cell: 33,
    tallest: 110,
    strip: 40,
    clients: 34,
    sky: 29,
    foot: 58,
    fold: 28,
    sunk: 20,
    shelf: 44,
    others: 34,
  },
};
export const NARROW = 700; // px of a stage that is laid out as on a phone
const SIDE = 172; // px that clients take at the left and at the right
const FEWEST = 4; // cells that a tube has room for
const AIR = 8; // px above them
const SKIES = 2; // rows of messages
const UNFOLDED = 400; // cells of one log at most

/** First offset drawn as a cell; what is before it is folded into one line.  The fold moves in
 *  jumps of a quarter of the height, so that cells do not slide with every record. */
export function foldAt({ base, end, same, capacity, unfolded }) {
  if (unfolded) return Math.max(base, end - UNFOLDED);
  if (end - base <= capacity) return base;
  const jump = Math.max(2, Math.floor(capacity / 4));
  const wanted = Math.ceil((end - base - Math.floor(0.8 * capacity)) / jump) * jump;
  // What differs stays in sight as long as it fits.
  const fold = Math.max(Math.min(Math.max(base, same - 2), base + wanted), end - capacity);
  return fold - base < 2 ? base + 2 : fold;
}

function endsOf(part) {
  const replicas = Object.values(part.replicas);
  const end = Math.max(
    0,
    ...replicas.map((r) => Math.max(r.leo, r.hw, ...(r.cut ?? []).map((c) => c.o + 1))),
  );
  const base = replicas.length ? Math.min(...replicas.map(localOf)) : 0;
  // What every log has deleted is one layer, however much it was; a shelf needs none.
  const layered = base > 0 && replicas.some((r) => !(r.local > r.start));
  return { base, end, layered };
}

export const sideOf = (view, width) => (width < 900 || !view.clients.length ? 0 : SIDE);

/** px at the left and right of a tube in its column: what the chosen layers write there. */
function gaps(col, layers, narrow) {
  const beside = ["epochs", "remote", "offsets"].some((one) => layers.has(one));
  if (col >= 220) return { left: beside ? 62 : 30, right: 62, pad: 12 };
  if (col >= 150) return { left: beside ? 50 : 14, right: 56, pad: 10 };
  return { left: beside ? 24 : 8, right: narrow ? 30 : 40, pad: 5 };
}

/** The geometry of one view for a stage of this size.  `highest`: the highest end of any log
 *  of a partition in the whole run, so that the scale stays the same all the way.
 * @param {View} view
 * @param {{width: number, height?: number, partition?: number, unfolded?: boolean,
 *   highest?: Record<string, number>, layers?: Set<string>, others?: any[],
 *   reserve?: boolean, letters?: typeof ROOM.narrow}} room  `letters`: sizes of another picture */
export function layout(
  view,
  {
    width,
    height = 560,
    partition = 0,
    unfolded,
    highest = {},
    layers = USUAL,
    others = [],
    ...more
  },
) {
  const part = partOf(view, partition);
  const narrow = width < NARROW;
  const room = more.letters ?? ROOM[narrow ? "narrow" : "wide"];
  const side = sideOf(view, width);
  const strip = layers.has("controller") ? room.strip : 0;
  const clients =
    !side && layers.has("clients") && (more.reserve || view.clients.length) ? room.clients : 0;
  const band = view.quorum ? BAND[narrow ? "narrow" : "wide"] : 0;
  const cards = groupBand(view);
  const shelf = view.store ? room.shelf : 0;
  const pipes = layers.has("pipes") ? 22 : 0;
  const foot = room.foot + pipes + shelf;
  const sky = strip + clients + band + cards;
  const rest = height - sky - foot - (others.length ? room.others : 0);
  const skies = rest - SKIES * room.sky > FEWEST * room.cell + 160 ? SKIES : 1;
  const top = sky + skies * room.sky + 6;
  const least = (FEWEST + 1) * room.cell + AIR;
  const whole = Math.max(least, rest - skies * room.sky - 6);
  const axis = scale(part, { room, whole, unfolded, highest });
  const inner = Math.max(axis.inner, least);
  const spare = Math.max(0, whole - inner);
  const geo = {
    width,
    height: Math.max(height, top + inner + foot),
    narrow,
    side,
    part,
    type: room.type,
    pipes: pipes > 0,
    shelf: { y: top + spare + inner + pipes, h: shelf },
    heads: { strip, clients: strip, sky },
    voters: view.quorum && voterLanes(view.quorum, { width, narrow, side, top: strip + clients }),
    groupBand: cards,
    skies,
    top: top + spare,
    ...columns(view.brokers, side, width, layers, narrow),
    ...axis,
  };
  const bed = (lane) => lane.floor - geo.sunk;
  const y = (offset, lane) =>
    offset <= geo.fold && geo.foldH
      ? bed(lane) - (Math.max(0, offset - geo.base) / (geo.fold - geo.base)) * geo.foldH
      : bed(lane) - geo.foldH - (offset - geo.fold) * geo.pitch;
  return { ...geo, lanes: lanes(view, geo, inner, shelf), y };
}

function columns(brokers, side, width, layers, narrow) {
  const area = width - 2 * side;
  const col = Math.min(340, area / Math.max(1, brokers.length));
  return { col, left: side + (area - col * brokers.length) / 2, gap: gaps(col, layers, narrow) };
}

/** Which offsets are drawn one by one, how high each is, and how high a tube is for that: it ends
 *  one cell above the highest end of the run. */
function scale(part, { room, whole, unfolded, highest }) {
  const { base, end, layered } = endsOf(part);
  const sunk = layered ? room.sunk : 0;
  const peak = Math.max(end, highest[part.p] ?? 0);
  const space = whole - sunk - AIR;
  const fits = Math.floor(space / room.cell) - 1;
  const folds = peak - base > fits && !unfolded;
  const capacity = folds ? Math.floor((space - room.fold) / room.cell) - 1 : fits;
  const fold = foldAt({ base, end, same: part.same ?? 0, capacity, unfolded });
  const foldH = fold > base ? room.fold : 0;
  const rows = unfolded
    ? Math.max(end - fold, FEWEST)
    : Math.max(FEWEST - 1, Math.min(peak - base, capacity)) + (end - fold > capacity ? 1 : 0);
  const pitch = unfolded
    ? Math.max(room.cell, Math.min(room.tallest, space / (rows + 1)))
    : Math.min(room.tallest, Math.floor((space - (folds ? room.fold : 0)) / (rows + 1)));
  const inner = Math.ceil(sunk + AIR + (folds ? room.fold : 0) + (rows + 1) * pitch);
  return { base, end, fold, foldH, sunk, rows, pitch, inner };
}

function lanes(view, geo, inner, shelf) {
  const floor = geo.top + inner;
  return new Map(
    view.brokers.map(({ id }, i) => {
      const left = geo.left + i * geo.col;
      const room = geo.col - geo.gap.left - geo.gap.right;
      const w = Math.min(room, 220);
      const x = left + geo.gap.left + (room - w) / 2;
      const mid = x + w / 2;
      return [id, { id, top: geo.top, floor, left, x, w, mid, foot: floor + shelf }];
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
  if (name.startsWith("K")) return [geo.width / 2, geo.heads.sky + 8];
  if (!/^[PC]/.test(name)) return [geo.width / 2, geo.height - 12]; // a mark below the tanks
  if (!geo.side) return [name.startsWith("P") ? 60 : geo.width - 60, geo.heads.clients + 16];
  return [name.startsWith("P") ? geo.side / 2 : geo.width - geo.side / 2, geo.top + 30];
}
