// Under a tank: whose it is, its crown, three words, and what else is the matter with it.  Pure.

import { g, icon, pill, rect, text, textWidth, title } from "../node.js";
import { isStale, standing } from "../standing.js";
import { sized } from "./place.js";

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
  const y = lane.foot + (geo.full ? (geo.narrow ? 38 : 46) : 34);
  return g(
    `card${broker.id}`,
    [
      rect("r", lane.left + 2, lane.foot + 24, geo.col - 4, geo.full ? 60 : 28, "touch frame"),
      ...name(geo, broker, lane, y, replica, ctx),
      ...(geo.full ? more(geo, broker, lane, y, replica, ctx) : []),
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
  const short = called(broker.id, true);
  const label = geo.full ? t("card.name", { name: short }) : short;
  const size = geo.full ? (geo.narrow ? 14 : 17) : Math.min(12, geo.col * 0.3);
  const lead = acts ? size + 5 : 0;
  const fits = sized(label, geo.col - lead - 6, size);
  const w = textWidth(label, fits, true);
  const x = lane.mid - (w + lead) / 2;
  return [
    acts && {
      ...icon(
        "crown",
        "crown",
        geo.full ? x : lane.mid - 6,
        geo.full ? y - size + 1 : y - 24,
        geo.full ? size + 2 : 12,
        geo.part.record.leader === broker.id ? "crown" : "crown self",
      ),
      m: { enter: "land", exit: "lift" },
    },
    text("name", geo.full ? x + lead : lane.mid - w / 2, y, label, "name", { "font-size": fits }),
  ];
}

/** Where words of this width stand under a tank: in its middle, as far as its column has room. */
const under = (geo, { left, mid }, w) =>
  Math.min(Math.max(mid, left + w / 2 + 2), left + geo.col - w / 2 - 2);

/** Three words, and below them what is wrong, or one small pill. */
function more(geo, broker, lane, y, replica, ctx) {
  const { t } = ctx;
  const [words, tone] = threeWords(geo.part, broker, t);
  const size = sized(words, geo.col - 4, geo.narrow ? 11.5 : 13, false);
  const x = under(geo, lane, textWidth(words, size));
  return [
    text("role", x, y + (geo.narrow ? 15 : 19), words, `role ${tone}`, {
      "text-anchor": "middle",
      style: `font-size:${size}px`,
    }),
    ...below(geo, broker, lane, y + (geo.narrow ? 21 : 26), replica, ctx),
  ];
}

/** A wrong belief first, then what the water waits for, then how the broker stands otherwise. */
function below(geo, broker, lane, y, replica, ctx) {
  const { t, name: called, layers, blocked } = ctx;
  const room = geo.col - 6;
  const line = (key, words, cls, a) => [
    g(
      key,
      [
        text(
          "t",
          under(geo, lane, Math.min(room, textWidth(words, 11.5))),
          y + 11,
          words,
          `small ${cls}`,
          {
            "text-anchor": "middle",
            style: `font-size:${sized(words, room, 11.5, false)}px`,
          },
        ),
        title("title", words),
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
    return line("belief", t(key, { b: leader >= 0 ? called(leader, true) : "" }), "warn", {
      class: "belief",
      "data-id": `b${broker.id}:belief`,
      "data-stale": 1,
    });
  }
  if (blocked.has(broker.id))
    return line("waits", t("card.waits"), "warn", { "data-id": `b${broker.id}:waits` });
  return pills(geo, broker, lane, y, ctx);
}

/** What else there is to say: ELR, fenced, throttled, a slow disk, its rack. */
function pills(geo, broker, lane, y, { t, layers, session }) {
  const others = standing(geo.part, broker, t).filter((one) => !one.member && one.cls !== "elr");
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
      size: 10.5,
      height: 17,
      data: `b${broker.id}:${one.key ?? one.cls}`,
    });
    if (made.length && at + p.width > geo.col - 4) break;
    made.push({ ...p, at });
    at += p.width + 4;
  }
  const from = lane.mid - (at - 4) / 2;
  return made.map(({ node, at: x }) => ({
    ...node,
    a: { ...node.a, transform: `translate(${Math.round(from + x)},0)` },
  }));
}
