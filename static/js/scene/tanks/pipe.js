// The pipe at the base: in-sync replicas are communicating vessels.  A valve for each replica, and
// one on the pipe itself that min.insync.replicas may shut.  Pure.

import { circle, g, line, path, rect, text, textWidth, title } from "../node.js";
import { standing } from "../standing.js";
import { fitted } from "./place.js";

/** "open", "closed", "joining" or "leaving": whether this replica's water is joined. */
function valveOf(part, broker, t) {
  const member = standing(part, broker, t).find((one) => one.member);
  const state =
    member?.cls === "joining" || member?.cls === "leaving"
      ? member.cls
      : part.record.isr.includes(broker.id)
        ? "open"
        : "closed";
  return { state, member };
}

const TURN = { open: 0, joining: 45, leaving: 45, closed: 90 };

function valve(key, x, y, r, state, elr) {
  const turn = (TURN[state] * Math.PI) / 180;
  const [dx, dy] = [Math.sin(turn) * (r + 3), Math.cos(turn) * (r + 3)];
  return [
    circle(`${key}c`, x, y, r, `valve ${state} ${elr ? "elr" : ""}`),
    line(`${key}h`, x - dx, y - dy, x + dx, y + dy, `handle ${state}`),
  ];
}

/** The pipe, dry where no replica is in sync, with the valves on it. */
export function pipes(geo, view, ctx) {
  const ar = view.brokers.filter((b) => geo.part.ar.includes(b.id) && geo.part.replicas[b.id]);
  if (!geo.pipes || ar.length < 2 || (geo.part.gone && geo.part.p >= 0)) return null;
  return g("pipes", onePipe(geo, ar, ctx), { class: "pipes" });
}

function onePipe(geo, brokers, ctx) {
  const thick = 8;
  const y = geo.lanes.get(brokers[0].id).floor + 16;
  const mids = brokers.map((b) => geo.lanes.get(b.id).mid);
  const joined = brokers.filter((b) => valveOf(geo.part, b, ctx.t).state !== "closed");
  const wet = joined.map((b) => geo.lanes.get(b.id).mid);
  const [a, b] = [Math.min(...mids), Math.max(...mids)];
  const parts = [
    rect("dry", a - thick / 2, y - thick / 2, b - a + thick, thick, "pipe", { rx: thick / 2 }),
    wet.length > 1 &&
      rect(
        "wet",
        Math.min(...wet) - thick / 2,
        y - thick / 2,
        Math.max(...wet) - Math.min(...wet) + thick,
        thick,
        "pipe wet",
        { rx: thick / 2 },
      ),
    ...brokers.map((one) => stub(geo, one, y, thick, ctx)),
    main(geo, brokers, y, ctx),
  ];
  return parts;
}

function stub(geo, broker, y, thick, { t }) {
  const lane = geo.lanes.get(broker.id);
  const { state, member } = valveOf(geo.part, broker, t);
  const elr = geo.part.record.elr?.includes(broker.id);
  const at = (lane.floor + y) / 2;
  const r = 5.5;
  return g(
    `stub${broker.id}`,
    [
      rect(
        "s",
        lane.mid - thick / 2,
        lane.floor,
        thick,
        y - lane.floor,
        `pipe ${state === "closed" ? "" : "wet"}`,
      ),
      ...valve("v", lane.mid, at, r, state, elr),
      rect("r", lane.mid - 14, lane.floor - 2, 28, 24, "touch"),
      title("title", member?.label ?? ""),
    ],
    { class: "valvebox", "data-id": `b${broker.id}:isr`, "data-state": state },
  );
}

/** Fewer in sync than min.insync.replicas: the main valve is shut, acks=all writes stand still. */
function main(geo, brokers, y, { t }) {
  const { minIsr, record } = geo.part;
  if (!(minIsr > 1) || brokers.length < 2) return null;
  const [a, b] = [geo.lanes.get(brokers[0].id), geo.lanes.get(brokers[1].id)];
  const shut = record.isr.length < minIsr;
  const x = (a.x + a.w + b.x) / 2;
  const { small } = geo.type;
  const between = b.x - a.x - a.w - 4;
  const [words, size] = fitted(t("scene.min_isr", { n: minIsr }), between, small, small, false);
  return g(
    "main",
    [
      ...valve("m", x, y, 6, shut ? "closed" : "open", false),
      shut && path("x", `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, "shutx"),
      text("t", x, y - 11, words, `small ${shut ? "bad" : ""}`, { middle: true, size }),
      rect("r", x - textWidth(words, size) / 2, y - 20, textWidth(words, size), 28, "touch"),
      title(
        "title",
        t(shut ? "scene.min_isr.shut" : "scene.min_isr.open", { n: minIsr, k: record.isr.length }),
      ),
    ],
    { "data-id": "minisr", "data-state": shut ? "shut" : "open" },
  );
}
