// Under a tank: whose it is, its crown, three words, and what else is the matter with it.  Pure.

import { g, icon, pill, rect, text, textWidth, title } from "../node.js";
import { isStale, standing } from "../standing.js";
import { fitted, shorter, sized } from "./place.js";

/** "leads · epoch 1", "crashed", "catching up · 3 behind". */
function threeWords(part, broker, t) {
  const replica = part.replicas[broker.id];
  if (broker.alive !== "up")
    return [t(`alive.${broker.alive}`), broker.alive === "down" ? "bad" : "warn"];
  if (!replica) return [t("pill.none"), ""];
  if (replica.role === "leader")
    return [
      t(part.record.leader === broker.id ? "scene.leads" : "scene.leads_self", {
        e: replica.belief?.le ?? "?",
      }),
      part.record.leader === broker.id ? "" : "warn",
    ];
  if (replica.role === "offline") return [t("role.offline"), "bad"];
  if (replica.role !== "follower") return [t(`role.${replica.role}`), ""];
  if (part.record.isr.includes(broker.id)) return [t("scene.in_sync"), ""];
  const lag = replica.fetch?.lag;
  return [lag > 0 ? t("scene.behind", { n: lag }) : t("scene.catching_up"), "warn"];
}

/** The foot of one tank; its group stands for the broker. */
export function foot(geo, view, broker, lane, ctx) {
  const replica = geo.part.replicas[broker.id];
  const top = lane.foot + (geo.pipes ? 26 : 4);
  const y = top + geo.type.name + 2;
  return g(
    `card${broker.id}`,
    [
      rect("r", lane.left + 2, top, geo.col - 4, geo.narrow ? 54 : 70, "touch frame"),
      ...name(geo, broker, lane, y, replica, ctx),
      ...more(geo, broker, lane, y, replica, ctx),
      title(
        "title",
        ctx.t(broker.clean ? "card.clean" : "card.unclean", {
          b: ctx.name(broker.id),
          e: broker.brokerEpoch ?? "–",
        }),
      ),
    ],
    {
      class: "broker",
      "data-id": `b${broker.id}`,
      "data-role": replica?.role ?? "none",
      "data-alive": broker.alive,
    },
  );
}

function name(geo, broker, lane, y, replica, { t, name: called }) {
  const acts = replica?.role === "leader";
  const { name: most, small } = geo.type;
  const lead = acts ? most + 5 : 0;
  const whole = t("card.name", { name: called(broker.id, true) });
  const room = geo.col - lead - 6;
  // A narrow column has room for the name alone.
  const [words, size] = fitted([whole, called(broker.id, true)], room, most, small);
  const wide = textWidth(words, size, true) + lead;
  const x = Math.min(Math.max(lane.mid - wide / 2, lane.left), lane.left + geo.col - wide);
  const crown = geo.part.record.leader === broker.id ? "crown" : "crown self";
  return [
    acts && {
      ...icon("crown", "crown", x, y - most + 1, most + 2, crown),
      m: { enter: "land", exit: "lift" },
    },
    text("name", x + lead, y, words, "name", { "font-size": size }),
  ];
}

/** Three words, and below them what is wrong, or one small pill. */
function more(geo, broker, lane, y, replica, ctx) {
  const [words, tone] = threeWords(geo.part, broker, ctx.t);
  const line = y + geo.type.role + 4;
  return [
    under(geo, lane, line, "role", shorter(words), `role ${tone}`, geo.type.role),
    ...below(geo, broker, lane, line, replica, ctx),
  ];
}

/** Words in the middle under a tank, as far as its column has room. */
function under(geo, { left, mid }, y, key, versions, cls, most) {
  const [words, size] = fitted(versions, geo.col - 4, most, geo.type.small, false);
  const half = textWidth(words, size) / 2 + 2;
  const x = Math.min(Math.max(mid, left + half), left + geo.col - half);
  return text(key, x, y, words, cls, { middle: true, size });
}

/** A wrong belief first, then what the water waits for, then how the broker stands otherwise. */
function below(geo, broker, lane, y, replica, ctx) {
  const { t, name: called, layers, blocked } = ctx;
  const line = (key, versions, cls, a) => [
    g(
      key,
      [
        under(geo, lane, y + geo.type.small + 4, "t", versions, `small ${cls}`, geo.type.small),
        title("title", versions[0]),
      ],
      a,
    ),
  ];
  const stale = isStale(replica, geo.part.record);
  if (layers.has("beliefs") && stale && broker.alive === "up") {
    const { leader } = replica.belief;
    const key =
      leader === broker.id
        ? "scene.thinks_self"
        : leader < 0
          ? "scene.thinks_none"
          : "scene.thinks";
    return line("belief", [t(key, { b: leader >= 0 ? called(leader, true) : "" })], "warn", {
      class: "belief",
      "data-id": `b${broker.id}:belief`,
      "data-stale": 1,
    });
  }
  if (blocked.has(broker.id))
    return line("waits", [t("card.waits"), t("card.waits.short")], "warn", {
      "data-id": `b${broker.id}:waits`,
    });
  return pills(geo, broker, lane, y + 5, ctx);
}

/** What else there is to say: ELR, fenced, throttled, a slow disk, its rack. */
function pills(geo, broker, lane, y, { t, layers, session }) {
  const others = standing(geo.part, broker, t).filter((one) => !one.member);
  if (broker.rack && !others.length) others.push({ label: broker.rack, cls: "out", key: "rack" });
  if (layers.has("sessions") && broker.session > 0 && session)
    others.unshift({
      label: t("card.session", { s: (broker.session / 1000).toFixed(1) }),
      cls: broker.session < session / 3 ? "slow" : "out",
      key: "session",
    });
  const made = [];
  let at = 0;
  for (const one of others) {
    const p = pill(`pill-${one.key ?? one.cls}`, 0, y, one.label, one.cls, {
      size: sized(one.label, geo.col - 18, geo.type.small, geo.type.small),
      height: geo.type.small + 6,
      data: `b${broker.id}:${one.key ?? one.cls}`,
    });
    if (made.length && at + p.width > geo.col - 4) break;
    made.push({ ...p, at });
    at += p.width + 4;
  }
  const wide = at - 4;
  const from = Math.min(Math.max(lane.mid - wide / 2, 2), geo.width - 2 - wide);
  return made.map(({ node, at: x }) => ({
    ...node,
    a: { ...node.a, transform: `translate(${Math.round(from + x)},0)` },
  }));
}
