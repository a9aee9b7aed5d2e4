// Producers at the left, consumers at the right: what they wait for and how far they read.  Pure.

import { called, clients, waitMark } from "../clients.js";
import { fit, g, line, path, rect, text, title } from "../node.js";
import { memberOf, standing } from "./groups.js";
import { sized } from "./place.js";

const GAP = 14; // px below a card, where there is room

/** Clients beside the tanks, or in a row over them where there is no room at the sides. */
export function sides(geo, view, ctx) {
  if (!geo.side) return [clients(geo, view, ctx), ...taps(geo, view, ctx)].filter(Boolean);
  const most = geo.lanes.values().next().value?.floor ?? geo.height;
  const first = geo.top + Math.max(4, (most - geo.top) * 0.22 - 40);
  const gaps = {};
  const at = {};
  for (const kind of ["producer", "consumer"]) {
    const cards = view.clients
      .filter((c) => c.kind === kind)
      .map((c) => card(geo, c, 0, ctx, view));
    const crowded = cards.reduce((sum, made) => sum + made.h + GAP, 0) > most - first;
    at[kind] = crowded ? geo.top + 4 : first;
    gaps[kind] = crowded ? 6 : GAP;
  }
  const cards = [];
  for (const c of view.clients) {
    const made = card(geo, c, at[c.kind], ctx, view);
    if (at[c.kind] + made.h > most) continue;
    cards.push(made.node);
    at[c.kind] += made.h + gaps[c.kind];
  }
  return [g("clients", cards), ...taps(geo, view, ctx)];
}

/** One client: its name, two short lines, and what it waits for. */
function card(geo, c, y, { t, name, blocked, changed }, view) {
  const producer = c.kind === "producer";
  const label = called(c, view, name);
  const w = geo.side - 16;
  const { mark, small } = geo.type;
  const x = producer ? 8 : geo.width - w - 8;
  const seen = geo.part.replicas[c.believes];
  const acked = c.acked ?? view.ledger.acked;
  const member = memberOf(view, c, t);
  const all = producer
    ? t("client.sent", { n: c.sent ?? view.ledger.sent, a: acked })
    : (member ??
      (seen
        ? t("client.sees", { o: c.position ?? 0, hw: seen.hw, leo: seen.leo })
        : t("client.reads", { o: c.position ?? 0 })));
  const lines = all.split(" · ").map((one) => fit(one, w - 18, small));
  const waiting = (c.waiting ?? []).slice(0, 3);
  const h = 32 + lines.length * 20;
  return {
    h: h + waiting.length * 29,
    node: g(
      `client-${c.id}`,
      [
        rect("bg", x, y, w, h, `client ${producer ? "" : "reader"}`, { rx: 8 }),
        text("n", x + 11, y + 21, label, "strong", {
          "font-size": sized(label, w - 20, mark, small),
        }),
        ...lines.map((one, i) =>
          text(`l${i}`, x + 11, y + 42 + 20 * i, one, "small", { size: small }),
        ),
        ...waiting.map((wait, i) =>
          waitMark(wait, { x, y: y + h + 5 + 29 * i, w, h: 24, small }, { t, name, blocked }, true),
        ),
        changed.has(`client:${c.id}`) &&
          line("chg", x + 11, y + h - 4, x + w - 11, y + h - 4, "changed"),
        title("title", `${label} ${all}`),
      ],
      {
        "data-id": String(c.id),
        "data-acked": acked,
        "data-position": c.position ?? "",
      },
    ),
  };
}

/** Where a consumer drinks: a tap at the right wall of the tank it reads from. */
function taps(geo, view, { name }) {
  const found = new Map();
  for (const c of view.clients) {
    const lane = geo.lanes.get(c.believes);
    const at = standing(view, c, geo.part.p);
    if (c.kind !== "consumer" || at === undefined || !lane || at <= geo.fold) continue;
    if (!geo.part.replicas[c.believes]) continue;
    const key = `${c.believes}:${at}`;
    found.set(key, { lane, o: at, ids: [...(found.get(key)?.ids ?? []), c.id] });
  }
  return [...found].map(([key, { lane, o, ids }]) => {
    const y = geo.y(o, lane);
    const x = lane.x + lane.w;
    return g(`tap-${key}`, [
      path("p", `M${x - 1} ${y - 4}l-9 4l9 4z`, "reads"),
      title("title", `${ids.map((id) => name(id)).join(", ")} ${o}`),
    ]);
  });
}
