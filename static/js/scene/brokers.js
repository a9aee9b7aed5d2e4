// A broker's card: who it is, what it does, where it stands, what it believes.

import { belief, isStale, rack, session } from "./belief.js";
import { fit, g, icon, line, pill, rect, text, textWidth, title } from "./node.js";
import { standing } from "./standing.js";

const PROCESS = {
  down: ["cross", "bad"],
  paused: ["pause", "warn"],
  starting: ["restart", "warn"],
  shutting: ["power", "warn"],
};

/** One card, with its frame: a group keyed by the broker. */
export function card(geo, view, broker, ctx) {
  const lane = geo.lanes.get(broker.id);
  const replica = geo.part.replicas[broker.id];
  const acts = replica?.role === "leader";
  const recorded = geo.part.record.leader === broker.id;
  const down = broker.alive === "down";
  const x = geo.cardX + 6;
  const pad = geo.density === "dense" ? 1 : 5;
  const h = geo.narrow ? geo.cardH - 8 : geo.laneH - 2 * pad;
  const parts = [
    rect(
      "frame",
      x,
      lane.y + pad,
      geo.cardW - 8,
      h,
      `card ${acts ? "acts" : ""} ${down ? "down" : ""} ${broker.alive === "paused" ? "down" : ""}`,
      { rx: pad === 1 ? 3 : 8 },
    ),
    acts && rect("edge", x, lane.y + pad, 4, h, `cardedge ${recorded ? "" : "self"}`, { rx: 2 }),
    ...(geo.density === "dense" || geo.density === "compact"
      ? small(geo, lane, broker, { acts, x, h }, ctx)
      : full(geo, lane, broker, { acts, recorded, x, replica }, ctx)),
  ];
  if (broker.rack && geo.d.labels) parts.push(rack(geo, lane, broker, h));
  if (geo.d.labels)
    parts.push(
      title(
        "title",
        ctx.t(broker.clean ? "card.clean" : "card.unclean", {
          b: ctx.name(broker.id),
          e: broker.brokerEpoch ?? "–",
        }),
      ),
    );
  return g(`card${broker.id}`, parts, {
    class: "broker",
    "data-id": `b${broker.id}`,
    "data-role": replica?.role ?? "none",
    "data-alive": broker.alive,
  });
}

/** Its name and what it does.
 * @param {ReturnType<typeof import("./layout.js").layout>} geo
 * @param {{id: number, [more: string]: any}} broker
 * @param {{acts: boolean, recorded?: boolean, x: number, y: number}} place
 * @param {{t: (key: string, args?: object) => string, name: Function}} ctx */
function head(geo, broker, { acts, recorded, x, y }, { t, name }) {
  const label = t("card.name", { name: name(broker.id, true) });
  const size = geo.density === "dense" ? 12 : 14.5;
  const lead = acts ? size + 7 : 0;
  const role = roleWord(geo, broker, t);
  // A process that is not up has a sign before its word.
  const sign = broker.alive === "up" ? 0 : 18;
  const room = Math.min(118, geo.cardX + geo.cardW - x - 28 - sign - textWidth(role, 12)) - lead;
  const fits = Math.max(12, Math.min(size, (size * room) / textWidth(label, size, true)));
  return [
    acts && {
      ...icon(
        "crown",
        "crown",
        x + 12,
        y - size + 1,
        size + 2,
        recorded === false ? "crown self" : "crown",
      ),
      m: { enter: "land", exit: "lift" },
    },
    text("name", x + 12 + lead, y, fit(label, room, fits, true), "name", { "font-size": fits }),
    text("role", geo.cardX + geo.cardW - 12, y, role, `role ${PROCESS[broker.alive]?.[1] ?? ""}`, {
      "text-anchor": "end",
    }),
  ];
}

const pillKey = (p) => `pill-${p.member ? "member" : (p.key ?? p.cls)}`;

function roleWord(geo, broker, t) {
  if (broker.alive !== "up") return t(`alive.${broker.alive}`);
  return t(`role.${geo.part.replicas[broker.id]?.role ?? "none"}`);
}

function small(geo, lane, broker, { acts, x, h }, ctx) {
  const dense = geo.density === "dense";
  const y = lane.y + h / 2 + 5;
  const pills = dense ? [] : standing(geo.part, broker, ctx.t).slice(0, 1);
  const parts = head(geo, broker, { acts, x, y: dense ? y : lane.y + 22 }, ctx);
  let at = x + 12;
  if (ctx.blocked.has(broker.id))
    parts.push(
      g(
        "waits",
        [
          icon(
            "i",
            "hourglass",
            geo.cardX + geo.cardW - (dense ? 1 : 20),
            lane.y + (dense ? 6 : 30),
            dense ? 10 : 12,
            "warn",
          ),
        ],
        { "data-id": `b${broker.id}:waits` },
      ),
    );
  for (const p of pills) {
    const made = pill(pillKey(p), at, lane.y + 29, p.label, p.cls, {
      name: p.name,
      size: 10.5,
      height: 17,
    });
    at += made.width + 4;
    parts.push(made.node);
  }
  return parts;
}

function full(geo, lane, broker, { acts, recorded, x, replica }, ctx) {
  const { t, blocked, changed } = ctx;
  const state = PROCESS[broker.alive];
  const parts = head(geo, broker, { acts, recorded, x, y: lane.y + 25 }, ctx);
  if (state) {
    const w = textWidth(t(`alive.${broker.alive}`), 12.5);
    parts.push(icon("state", state[0], geo.cardX + geo.cardW - 28 - w, lane.y + 14, 13, state[1]));
  }
  let at = x + 11;
  const right = geo.cardX + geo.cardW - 10;
  const pills = standing(geo.part, broker, t);
  // Two that would not fit beside each other stand closer, without their icons.
  const close =
    pills.length > 1 &&
    pills
      .slice(0, 2)
      .reduce((sum, p) => sum + textWidth(p.label, 11.5, true) + (p.name ? 35 : 19), at) > right;
  for (const p of pills) {
    const made = pill(pillKey(p), at, lane.y + 35, p.label, p.cls, {
      name: close ? undefined : p.name,
      size: close ? 10 : 11.5,
      data: p.key ? `b${broker.id}:${p.key}` : `b${broker.id}:isr`,
      dot: p.counts ? t("pill.counts") : null,
    });
    if (at + made.width > right && at > x + 11) break;
    at += made.width + 5;
    parts.push(made.node);
  }
  if (changed?.has(`b${broker.id}:isr`))
    parts.push(line("chg", x + 13, lane.y + 58, at - 7, lane.y + 58, "changed"));
  if (geo.narrow) return parts;
  const stale = isStale(replica, geo.part.record);
  const waits = blocked.has(broker.id);
  const selfish = acts && !recorded;
  if (
    ctx.layers.has("beliefs") &&
    replica &&
    replica.role !== "offline" &&
    (stale || geo.density === "comfortable")
  )
    parts.push(belief(lane, x, right, { stale, selfish, replica, broker }, ctx));
  if (waits) {
    const low = geo.density === "comfortable" ? lane.y + 86 : lane.y + 84;
    parts.push(
      g(
        "waits",
        [
          icon("i", "hourglass", x + 11, low, 13, "warn"),
          text("t", x + 28, low + 11, fit(t("card.waits"), right - x - 28, 12), "small warn"),
        ],
        { "data-id": `b${broker.id}:waits` },
      ),
    );
  }
  if (ctx.layers.has("sessions")) parts.push(session(geo, lane, broker, right, ctx));
  return parts;
}
