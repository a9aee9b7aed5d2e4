// One tank: its walls, the water in it, the fence before it.  Pure.

import { g, path, rect, title } from "../node.js";
import { stack } from "./cells.js";
import { foot } from "./foot.js";
import { marks } from "./marks.js";
import { localOf, segments } from "./shelf.js";

const WAVES = 3;

/** The water's surface from left to right: `amp` px high waves. */
function surface(x, y, w, amp) {
  const step = w / (2 * WAVES);
  const bends = Array.from(
    { length: 2 * WAVES },
    (_, i) => `q${step / 2} ${(i % 2 ? 1 : -1) * amp * 2} ${step} 0`,
  );
  return `M${x} ${y}${bends.join("")}`;
}

/** Water up to the high watermark: what is below it is committed. */
function water(geo, lane, replica, changed) {
  const low = geo.y(Math.max(localOf(replica), geo.base), lane);
  const y = geo.y(Math.max(replica.hw, geo.base), lane);
  if (low - y < 1) return [];
  const [x, w] = [lane.x + 1.5, lane.w - 3];
  const amp = 3;
  // On what has sunk it stands as on a floor.
  const floor = low - 1.5;
  const r = low < lane.floor ? 0 : 8;
  const top = surface(x, y, w, amp);
  return [
    path(
      "water",
      `${top}V${floor - r}q0 ${r} ${-r} ${r}H${x + r}q${-r} 0 ${-r} ${-r}Z`,
      "tankwater",
    ),
    path("crest", top, `crest ${changed ? "moved" : ""}`),
  ];
}

function wall(lane, broker, replica) {
  const off = broker.alive !== "up" || replica?.role === "offline" || !replica;
  const r = 10;
  const [x, y, w, f] = [lane.x, lane.top + 4, lane.w, lane.floor];
  const leads = replica?.role === "leader";
  const cls = `tankwall ${off ? "off" : ""} ${leads ? "leads" : ""}`;
  return [
    rect("ground", x, y, w, f - y, `tankground ${off ? "off" : ""}`, { rx: r }),
    path("wall", `M${x} ${y}V${f - r}q0 ${r} ${r} ${r}H${x + w - r}q${r} 0 ${r} ${-r}V${y}`, cls),
  ];
}

/** A fenced broker stands behind a fence: it may not serve yet. */
function fence(geo, lane, broker, { t }) {
  if (!broker.fenced || broker.alive === "down") return [];
  const [x, w] = [lane.x - 6, lane.w + 12];
  const top = lane.floor - Math.min(70, (lane.floor - lane.top) * 0.3);
  const slats = Math.max(3, Math.round(w / 18));
  const d = Array.from(
    { length: slats + 1 },
    (_, i) => `M${x + (i * w) / slats} ${lane.floor + 4}V${top}l4 -6`,
  ).join("");
  return [
    g("fence", [
      path("p", `${d}M${x} ${top + 10}h${w}M${x} ${lane.floor - 10}h${w}`, "fence"),
      title("title", t("pill.fenced")),
    ]),
  ];
}

/** Everything of one broker, under one key. */
export function tank(geo, view, broker, ctx, words) {
  const lane = geo.lanes.get(broker.id);
  const replica = geo.part.replicas[broker.id];
  const shown = ctx.layers.has("watermarks");
  const moved = ctx.changed.has(`b${broker.id}:hw`);
  return g(
    `lane${broker.id}`,
    [
      foot(geo, view, broker, lane, ctx),
      g("tank", wall(lane, broker, replica)),
      g("watered", shown && replica ? water(geo, lane, replica, moved) : []),
      g("log", stack(geo, lane, broker, ctx)),
      g("marks", replica ? marks(geo, lane, broker, replica, ctx) : []),
      g("shelf", segments(geo, view, lane, broker, replica, ctx)),
      g("fenced", fence(geo, lane, broker, ctx)),
    ],
    {
      class: `lanegroup tank ${broker.alive === "up" ? "" : "dead"}`,
      role: "img",
      "aria-label": words,
    },
  );
}
