// The picture of one step as tanks: a pure function of the step and of the room there is.

import { changedIn } from "../../core/changes.js";
import { USUAL } from "../layers.js";
import { g, rect, text, textWidth } from "../node.js";
import { linkWords, sentence } from "../words.js";
import { beats } from "./beats.js";
import { boxes } from "./boxes.js";
import { commitFlags, groups } from "./groups.js";
import { layout } from "./layout.js";
import { partings } from "./parting.js";
import { pipes } from "./pipe.js";
import { strip } from "./record.js";
import { sides } from "./sides.js";
import { messages, oddLinks, rows } from "./sky.js";
import { store } from "./store.js";
import { tank } from "./tank.js";
import { voters } from "./voters.js";

/** {geo, logs, over}: the geometry and the two layers, the upper one for what moves.
 * @param {Step & {changed?: Set<string>, was?: object}} step
 * @param {{layers?: Set<string>, t: Function, name: Function, width: number, height?: number,
 *   partition?: number, unfolded?: boolean, corner?: number, widest?: number}} how */
export function tanks(step, { layers = USUAL, t, name, ...room }) {
  const view = step.view;
  const empty = layout(view, room);
  const geo = { ...empty, boxes: boxes(empty) };
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
    strip(geo, view, ctx),
    voters(geo, view, ctx),
    groups(geo, view, ctx),
    store(geo, view, ctx),
    layers.has("clients") && g("sides", sides(geo, view, ctx)),
    pipes(geo, view, ctx),
    differ(geo, ctx),
    ...view.brokers.map((b) => tank(geo, view, b, ctx, sentence(geo, b, ctx))),
    ...commitFlags(geo, view, ctx),
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
  if (!d || geo.detail === "run") return null;
  const from = Math.max(d[0], geo.fold);
  const seen = new Set();
  const parts = [...geo.lanes.values()].flatMap((lane) => {
    if (seen.has(lane.row)) return [];
    seen.add(lane.row);
    const [top, low] = [geo.y(d[1], lane), geo.y(from, lane)];
    const x = geo.side + 2;
    return [
      rect(`r${lane.row}`, x, top - 1, geo.width - 2 * x, low - top + 2, "diverge", { rx: 6 }),
    ];
  });
  const words = t("ruler.differ", { o: d[0] });
  const lane = geo.lanes.values().next().value;
  if (geo.full && lane)
    parts.push(
      text("t", geo.side + 10, geo.y(d[1], lane) - 6, words, "divtext", {
        style: "font-size:11px",
      }),
    );
  return g("diverge", parts, { "data-id": "differ", "data-from": d[0], "data-to": d[1] });
}
