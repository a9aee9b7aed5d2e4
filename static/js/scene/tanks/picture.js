// The picture of one step as tanks: a pure function of the step and of the room there is.

import { changedIn } from "../../core/changes.js";
import { USUAL } from "../layers.js";
import { g, rect, text, textWidth } from "../node.js";
import { linkWords, sentence } from "../words.js";
import { beats } from "./beats.js";
import { boxes } from "./boxes.js";
import { commitFlags, groups } from "./groups.js";
import { layout } from "./layout.js";
import { marksOf, others } from "./others.js";
import { partings } from "./parting.js";
import { pipes } from "./pipe.js";
import { control, strip, word } from "./record.js";
import { seats } from "./seats.js";
import { board } from "./shelf.js";
import { sides } from "./sides.js";
import { messages, oddLinks, rows } from "./sky.js";
import { tank } from "./tank.js";
import { voters } from "./voters.js";

/** {geo, logs, over}: the geometry and the two layers, the upper one for what moves.
 * @param {Step & {changed?: Set<string>, was?: object}} step
 * @param {{layers?: Set<string>, t: Function, name: Function, width: number, height?: number,
 *   partition?: number, guest?: number | null, skip?: number, unfolded?: boolean,
 *   highest?: Record<string, number>, reserve?: boolean}} how  `reserve`: room for clients that the
 *   view has not */
export function tanks(step, { layers = USUAL, t, name, ...room }) {
  const seated = seats(step.view, room);
  const view = { ...step.view, brokers: seated.shown };
  const empty = layout(view, { ...room, layers, others: seated.others });
  const placed = { ...empty, control: control(empty, view, { t }) };
  const marked = { ...placed, marks: marksOf(placed, step.view, seated.others) };
  const geo = { ...marked, boxes: boxes(marked) };
  const ctx = {
    t,
    name,
    width: textWidth,
    words: linkWords,
    blocked: new Set(geo.part.replicas[geo.part.record.leader]?.blocks ?? []),
    lost: new Set(view.ledger?.lost ?? []),
    graves: view.graves ?? [],
    changed: changedIn(step.changed, geo.part.p),
    was: step.was?.[geo.part.p] ?? {},
    layers,
    session: view.controller.sessionMs,
  };
  const logs = [
    layers.has("controller") ? strip(geo, view, ctx) : word(geo),
    voters(geo, view, ctx),
    groups(geo, view, ctx),
    board(geo, view, ctx),
    layers.has("clients") && g("sides", sides(geo, view, ctx)),
    pipes(geo, view, ctx),
    differ(geo, ctx),
    ...view.brokers.map((b) => tank(geo, view, b, ctx, sentence(geo, b, ctx))),
    ...commitFlags(geo, view, ctx),
    others(geo, step.view, ctx),
  ].filter(Boolean);
  const places = rows(geo);
  const over = [
    ...partings(geo, step, places, ctx),
    ...oddLinks(geo, view, places, ctx),
    ...beats(geo, view, ctx),
    ...messages(geo, view, places, ctx),
  ];
  return { geo, logs, over };
}

/** A band across all tanks at the height where two of them hold different records. */
function differ(geo, { t }) {
  const d = geo.part.differ;
  const lane = geo.lanes.values().next().value;
  if (!d || !lane || d[1] <= geo.fold) return null;
  const [top, low] = [geo.y(d[1], lane), geo.y(Math.max(d[0], geo.fold), lane)];
  const x = geo.side + 2;
  const { small } = geo.type;
  const parts = [
    rect("r", x, top - 1, geo.width - 2 * x, low - top + 2, "diverge", { rx: 6 }),
    text("t", x + 8, top - 6, t("ruler.differ", { o: d[0] }), "divtext", { size: small }),
  ];
  return g("diverge", parts, { "data-id": "differ", "data-from": d[0], "data-to": d[1] });
}
