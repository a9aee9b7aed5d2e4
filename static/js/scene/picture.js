// The picture of one step: a pure function of the step and of the room there is.

import { changedIn } from "../core/changes.js";
import { card } from "./brokers.js";
import { clients } from "./clients.js";
import { controller } from "./controller.js";
import { epochs } from "./epochs.js";
import { USUAL } from "./layers.js";
import { layout } from "./layout.js";
import { beats, links } from "./links.js";
import { log } from "./logs.js";
import { marks } from "./marks.js";
import { joins } from "./memory.js";
import { messages } from "./messages.js";
import { g, rect, textWidth } from "./node.js";
import { partings } from "./parting.js";
import { divergence, ruler } from "./ruler.js";

/** {geo, logs, over}: the geometry and the two layers, the upper one for what moves. */
export function picture(
  step,
  { width, partition = 0, unfolded = false, corner = 0, layers = USUAL, t, name },
) {
  const view = step.view;
  const geo = layout(view, { width, partition, unfolded, corner });
  const blocked = new Set(geo.part.replicas[geo.part.record.leader]?.blocks ?? []);
  const lost = new Set(view.ledger?.lost ?? []);
  const ctx = {
    t,
    name,
    width: textWidth,
    blocked,
    lost,
    changed: changedIn(step.changed, geo.part.p),
    was: step.was?.[geo.part.p] ?? {},
    layers,
    session: view.controller.sessionMs,
    alarm: (step.broken ?? []).length > 0,
  };
  const logs = [
    ruler(geo, view, ctx),
    ...view.brokers.map((b) => ground(geo, b)),
    divergence(geo, view, ctx),
    ...(layers.has("watermarks") ? joins(geo) : []),
    ...view.brokers.map((b) => laneOf(geo, view, b, ctx)),
    controller(geo, view, ctx),
    layers.has("clients") && clients(geo, view, ctx),
  ].filter(Boolean);
  const over = [
    ...links(geo, view, ctx),
    ...beats(geo, view, ctx),
    ...partings(geo, step, ctx),
    ...messages(geo, view, ctx),
  ];
  return { geo, logs, over };
}

/** A lane's ground; apart from the lane, so that the divergence frame stands between the two. */
function ground(geo, broker) {
  const lane = geo.lanes.get(broker.id);
  const off =
    broker.alive === "down" ||
    broker.alive === "paused" ||
    geo.part.replicas[broker.id]?.role === "offline";
  const x = geo.narrow ? 0 : geo.gutter;
  return rect(
    `ground${broker.id}`,
    x,
    lane.y + 1,
    geo.width - x - 4,
    geo.laneH - 2,
    `lane ${off ? "off" : ""}`,
    { rx: 10 },
  );
}

function laneOf(geo, view, broker, ctx) {
  return g(
    `lane${broker.id}`,
    [
      card(geo, view, broker, ctx),
      g("log", log(geo, broker, ctx)),
      g("marks", marks(geo, broker, ctx)),
      ...(ctx.layers.has("epochs") ? epochs(geo, broker, ctx) : []),
    ],
    { class: "lanegroup", role: "img", "aria-label": sentence(geo, broker, ctx) },
  );
}

/** A lane in words, for those who do not see it. */
export function sentence(geo, broker, { t, name }) {
  const r = geo.part.replicas[broker.id];
  const who = name(broker.id);
  const state = broker.alive === "up" ? t(`role.${r?.role ?? "none"}`) : t(`alive.${broker.alive}`);
  if (!r) return t("lane.none", { who, state });
  const member = t(geo.part.record.isr.includes(broker.id) ? "lane.in" : "lane.out");
  const list = (r.epochs ?? []).map(([e, o]) => t("lane.epoch", { e, o })).join(t("list.comma"));
  const { leader, le } = r.belief;
  const belief =
    le >= 0
      ? t("card.believes", { leader: leader >= 0 ? name(leader, true) : t("card.nobody"), e: le })
      : t("card.knows_nothing");
  return t("lane.words", {
    who,
    state,
    member,
    a: r.start ?? 0,
    b: r.leo,
    hw: r.hw,
    epochs: list || "–",
    belief,
  });
}
