// The voters of a KRaft quorum: a band of small metadata logs above the tanks.  Pure.

import { epochClass, g, icon, line, rect, text, textWidth, title } from "../node.js";
import { fitted, shorter } from "./place.js";

/** Height of the band, in px: the log, and below it name, state and epoch. */
export const BAND = { wide: 82, narrow: 72 };
const LABEL = 26; // px of the words below a log
const APART = 4;

/** Where each voter stands: node -> {x, w, mid, top, floor}. */
export function voterLanes(quorum, { width, narrow, side, top }) {
  const count = quorum.voters.length;
  const col = Math.min(320, (width - 2 * side) / count);
  const left = (width - col * count) / 2;
  const floor = top + BAND[narrow ? "narrow" : "wide"] - 8;
  const lanes = new Map(
    quorum.voters.map((v, i) => {
      const mid = left + (i + 0.5) * col;
      const w = col - (narrow ? 6 : 24);
      return [v.id, { x: mid - w / 2, w, mid, top: top + 4, floor, col }];
    }),
  );
  return { lanes };
}

/** All voters side by side. */
export function voters(geo, view, ctx) {
  if (!view.quorum) return null;
  const parts = view.quorum.voters.map((v) => voter(geo, view.quorum, v, ctx));
  return g("voters", parts, { class: "voters" });
}

function voter(geo, quorum, v, { t, name, changed, layers }) {
  const lane = geo.voters.lanes.get(v.id);
  const leads = v.alive && v.state === "leader";
  const state = t(`quorum.${condition(v)}`);
  const numbers = { name: v.name, state, e: v.epoch, o: v.end, h: Math.max(0, v.hw) };
  const words = t("quorum.words", numbers);
  const wall = `votertank ${v.alive && !v.paused ? "" : "off"} ${leads ? "leads" : ""}`;
  const parts = [
    rect("wall", lane.x, lane.top, lane.w, lane.floor - lane.top, wall, { rx: 10 }),
    ...entries(geo, lane, v),
    ...foot(geo, lane, v, [v.name, state, t("quorum.epoch", { e: v.epoch })], leads),
    ...(layers.has("ends") ? observers(geo, quorum, lane, v, { t, name }) : []),
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

/** The key of a voter's state in words. */
function condition(v) {
  if (!v.alive) return "down";
  if (v.paused) return "paused";
  return v.active ? "active" : v.state;
}

/** The last entries of the log from left to right; a line where the committed ones end. */
function entries(geo, lane, v) {
  const size = geo.type.small;
  const w = Math.max(28, textWidth(String(v.end), size, true) + 10);
  const most = Math.max(1, Math.floor((lane.w - 16) / (w + APART)));
  const [y, h] = [lane.top + 7, lane.floor - lane.top - LABEL - 14];
  const shown = v.entries.slice(-most);
  const x = (i) => lane.x + 8 + i * (w + APART);
  const edge = shown.findIndex(({ o }) => o >= v.hw);
  return [
    ...shown.map(({ o, e, kind }, i) =>
      g(
        `o${o}-${e}`,
        [
          rect("r", x(i), y, w, h, `cell ${epochClass(e)} ${o >= v.hw ? "open" : ""}`, { rx: 4 }),
          text("n", x(i) + w / 2, y + h / 2 + size * 0.36, o, "num name", { "font-size": size }),
          title("title", `${o} ${kind}`),
        ],
        { class: "record", "data-epoch": e, "data-open": o >= v.hw ? 1 : 0 },
        { enter: "land" },
      ),
    ),
    edge > 0 && line("hw", x(edge) - 2, y - 3, x(edge) - 2, y + h + 3, "crest"),
  ].filter(Boolean);
}

/** "C2 · active · epoch 2", as much of it as there is room for. */
function foot(geo, lane, v, words, leads) {
  const { small } = geo.type;
  const crown = leads ? small + 5 : 0;
  const room = lane.w - crown - 8;
  const [label, size] = fitted(shorter(words.join(" · ")), room, small, small);
  const x = lane.mid - (textWidth(label, size, true) + crown) / 2;
  const y = lane.floor - 9;
  return [
    leads && icon("crown", "crown", x, y - small + 1, small + 2, "crown"),
    text("name", x + crown, y, label, `name ${v.alive ? "" : "bad"}`, { "font-size": size }),
  ].filter(Boolean);
}

/** The brokers that observe this voter, and the offset up to which they have applied metadata. */
function observers(geo, quorum, lane, v, { t, name }) {
  const mine = quorum.observers.filter((one) => one.leader === v.id);
  if (!mine.length) return [];
  const words = mine.map((one) => `${name(one.b, true)} ▸ ${one.offset}`).join(", ");
  const { small } = geo.type;
  const [label, size] = fitted(words, lane.w, small, small, false);
  return [
    g("observers", [
      text("t", lane.mid, lane.floor + 12, label, "small", { middle: true, size }),
      title(
        "title",
        mine.map((one) => t("quorum.observes", { b: name(one.b), o: one.offset })).join(" "),
      ),
    ]),
  ];
}
