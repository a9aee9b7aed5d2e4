// The voters of a KRaft quorum: a small tank each, with the end of its metadata log.  Pure.

import { epochClass, fit, g, line, path, rect, text, textWidth, title } from "../node.js";

/** Height of the band, in px: entries above, name and state below. */
export const BAND = { wide: 148, narrow: 128 };
const FOOT = 38;
const ROWS = { wide: 5, narrow: 4 };
/** Width of a tank in which a record's word has room, in px. */
const WORD = 78;

/** Where each voter stands: node -> {x, w, mid, top, floor}, and the offsets that are shown. */
export function voterLanes(quorum, { width, narrow, top, side, corner }) {
  const size = narrow ? "narrow" : "wide";
  const count = quorum.voters.length;
  // The corner on the right is left to what the page puts there.
  const area = width - side - Math.max(side, corner);
  const col = Math.min(310, area / count);
  const left = side + (area - col * count) / 2;
  const w = Math.min(190, col - 8, Math.max(WORD, col - (narrow ? 44 : 116)));
  const floor = top + BAND[size] - FOOT;
  const end = Math.max(...quorum.voters.map((v) => v.end));
  const from = Math.max(0, end - ROWS[size]);
  const pitch = (floor - top - 12) / (ROWS[size] + 0.4);
  const lanes = new Map(
    quorum.voters.map((v, i) => {
      const mid = left + (i + 0.5) * col;
      return [v.id, { x: mid - w / 2, w, mid, top: top + 8, floor, col }];
    }),
  );
  const y = (offset) => floor - Math.max(0, offset - from) * pitch;
  return { lanes, from, pitch, y };
}

/** All voters side by side. */
export function voters(geo, view, ctx) {
  if (!view.quorum) return null;
  const parts = view.quorum.voters.map((v) => voter(geo, view.quorum, v, ctx));
  return g("voters", parts, { class: "voters" });
}

function voter(geo, quorum, v, { t, name, changed }) {
  const lane = geo.voters.lanes.get(v.id);
  const leads = v.alive && v.state === "leader";
  const state = v.alive ? t(`quorum.${v.active ? "active" : v.state}`) : t("quorum.down");
  const words = t("quorum.words", {
    name: v.name,
    state,
    e: v.epoch,
    o: v.end,
    h: Math.max(0, v.hw),
  });
  const parts = [
    rect("ground", lane.x, lane.top, lane.w, lane.floor - lane.top, groundClass(v), { rx: 7 }),
    ...water(geo, lane, v),
    path("wall", wall(lane), `tankwall ${v.alive ? "" : "off"} ${leads ? "leads" : ""}`),
    ...v.entries.filter((one) => one.o >= geo.voters.from).map((one) => entry(geo, lane, v, one)),
    ...marks(geo, lane, v, t),
    ...observers(geo, quorum, lane, v, { t, name }),
    ...foot(geo, lane, v, state, t),
    title("title", words),
  ];
  const moved = [...(changed ?? [])].some((key) => key.startsWith(`${v.id}:`));
  return g(`voter${v.id}`, parts, {
    class: `voter ${v.alive ? "" : "dead"} ${moved ? "moved" : ""}`,
    role: "img",
    "aria-label": words,
    "data-id": v.id,
    "data-state": v.alive ? v.state : "down",
    "data-epoch": v.epoch,
  });
}

const groundClass = (v) => `tankground ${v.alive ? "" : "off"}`;

function wall({ x, w, top, floor }) {
  const r = 7;
  const bend = `q0 ${r} ${r} ${r}H${x + w - r}q${r} 0 ${r} ${-r}`;
  return `M${x} ${top}V${floor - r}${bend}V${top}`;
}

/** Below the high watermark everything is committed. */
function water(geo, lane, v) {
  if (v.hw <= geo.voters.from) return [];
  const y = geo.voters.y(v.hw);
  const [x, w] = [lane.x + 1.5, lane.w - 3];
  return [
    rect("water", x, y, w, lane.floor - y - 1.5, "tankwater", { rx: 6 }),
    line("crest", x, y, x + w, y, "crest"),
  ];
}

function entry(geo, lane, v, { o, e, kind }) {
  const h = geo.voters.pitch - 3;
  const [x, y, w] = [lane.x + 4, geo.voters.y(o + 1) + 1.5, lane.w - 8];
  const whole = `${o} ${kind}`;
  // Where a name has no room, its first word stands for it: Register, Partition.
  const [word] = kind.match(/^[A-Z][a-z]*/);
  const label = textWidth(whole, 10.5) <= w - 8 ? whole : fit(`${o} ${word}`, w - 4, 10.5);
  return g(
    `o${o}-${e}`,
    [
      rect("r", x, y, w, h, `cell ${epochClass(e)} ${o >= v.hw ? "open" : ""}`, { rx: 3 }),
      text("n", x + w / 2, y + h / 2 + 3.8, label, "num name", { "font-size": 10.5 }),
      title("title", whole),
    ],
    { class: "record", "data-epoch": e, "data-open": o >= v.hw ? 1 : 0 },
    { enter: "land" },
  );
}

/** End and mark at the right wall; where both are equal, one line says it. */
function marks(geo, lane, v, t) {
  if (geo.narrow) return [];
  const x = lane.x + lane.w + 5;
  const style = { style: "font-size:11px;text-anchor:start" };
  const end = Math.max(v.end, geo.voters.from);
  if (v.hw === v.end)
    return [text("both", x, geo.voters.y(end) + 4, `HW = ${v.end}`, "strong", style)];
  const low = Math.min(geo.voters.y(Math.max(v.hw, geo.voters.from)), lane.floor - 2);
  const high = Math.min(geo.voters.y(end), low - 13);
  return [
    text("leo", x, high + 4, `LEO ${v.end}`, "strong", style),
    text("hw", x, low + 4, v.hw < 0 ? t("quorum.no_hw") : `HW ${v.hw}`, "strong", style),
  ];
}

/** The brokers that observe this voter, at the offset up to which they have applied metadata. */
function observers(geo, quorum, lane, v, { t, name }) {
  if (geo.narrow) return [];
  const at = new Map();
  for (const one of quorum.observers.filter((one) => one.leader === v.id))
    at.set(one.offset, [...(at.get(one.offset) ?? []), one.b]);
  return [...at].map(([offset, brokers]) => {
    const names = brokers.map((b) => name(b, true)).join(", ");
    const y = geo.voters.y(offset);
    return g(`obs${offset}`, [
      text("t", lane.x - 6, y + 4, fit(`${names} ▸`, (lane.col - lane.w) / 2 - 8, 11), "small", {
        "text-anchor": "end",
        style: "font-size:11px",
      }),
      title("title", t("quorum.observes", { b: names, o: offset })),
    ]);
  });
}

function foot(geo, lane, v, state, t) {
  const room = lane.col - 6;
  const size = geo.narrow ? 11 : 12;
  const style = { "text-anchor": "middle", style: `font-size:${size}px` };
  const second = t("quorum.epoch", { e: v.epoch });
  return [
    text("name", lane.mid, lane.floor + 15, fit(`${v.name} · ${state}`, room, size, true), "name", {
      ...style,
    }),
    text("epoch", lane.mid, lane.floor + 30, fit(second, room, size), "quiet", style),
  ];
}
