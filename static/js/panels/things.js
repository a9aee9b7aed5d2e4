// The things of the stage that can be pressed: where each is, and what it is called.

import * as s from "../animator/state.js";
import { around, nodes } from "../scene/spots.js";

const brokerWords = (id, key) =>
  s.t.value(key, { b: s.t.value("card.name", { name: s.name.value(id, true) }) });

const tanks = (geo) =>
  [...geo.lanes.keys()].map((id) => ({
    id: `b${id}`,
    label: brokerWords(id, "hit.broker"),
    ...geo.boxes.card(id),
  }));

/** The mark of a broker brings its tank; the last one brings marks of those that have no room. */
const marks = ({ marks: all }) =>
  all.map(({ id, x, y, w, h, label }) => ({
    id: id === null ? "more" : `b${id}`,
    label: id === null ? s.t.value("hit.more", { n: label }) : brokerWords(id, "hit.mark"),
    ...{ x, y, w, h },
    act: () => {
      if (id === null) s.skip.value += all.length - 1;
      else s.guest.value = id;
    },
  }));

/** The controller, and the clients beside it. */
function top(geo, drawnLogs) {
  const controller = geo.boxes.top
    ? [{ id: "K", label: s.t.value("hit.controller"), ...geo.boxes.top }]
    : [];
  const clients = [...nodes(drawnLogs)]
    .filter((n) => n.k.startsWith("client-"))
    .map((n) => ({
      id: n.a["data-id"],
      label: n.c.find((one) => one.k === "title").x,
      ...around(n.c.find((one) => one.k === "bg").a),
    }));
  return [...controller, ...clients];
}

/** Messages on their way. */
const flying = (geo, step, over) =>
  over
    .filter((n) => n.m?.at)
    .map((n) => {
      const m = step.view.messages.find((one) => `msg-${one.id}` === n.k);
      return {
        id: `m${m?.id}`,
        label: s.t.value(m?.reply ? "hit.answer" : "hit.message", {
          kind: m?.kind,
          a: s.name.value(m?.from, true),
          b: s.name.value(m?.to, true),
        }),
        ...geo.boxes.slip(n.m),
      };
    });

const links = (over) =>
  over
    .filter((n) => n.a["data-id"]?.startsWith("link:"))
    .map((n) => {
      const box = n.c.find((one) => one.k === "bg");
      const [, a, b] = n.a["data-id"].split(":");
      return {
        id: n.a["data-id"],
        label: s.t.value("hit.link", { a: s.name.value(a, true), b: s.name.value(b, true) }),
        x: box.a.x,
        y: box.a.y - 4,
        w: box.a.width,
        h: 28,
      };
    });

/** The flag of a log's end, where it is drawn, stands for the log: what can be written to it,
 *  flushed, cut off its start. */
const logs = (geo) =>
  [...geo.lanes.values()]
    .filter((lane) => s.layers.value.has("ends") && geo.part.replicas[lane.id])
    .map((lane) => ({
      id: `log:${lane.id}`,
      label: brokerWords(lane.id, "hit.log"),
      ...geo.boxes.end(lane.id),
    }));

/** The folded beginning, which opens when it is pressed. */
const fold = (geo) =>
  geo.foldH > 0
    ? [
        {
          id: "fold",
          label: s.t.value("corner.unfold"),
          ...geo.boxes.fold(),
          act: () => {
            s.unfolded.value = true;
          },
        },
      ]
    : [];

const lanes = (geo, enter) =>
  [...geo.lanes.values()]
    .filter((lane) => geo.part.replicas[lane.id])
    .map((lane) => ({
      id: `lane:${lane.id}`,
      kind: "through",
      label: brokerWords(lane.id, "hit.lane"),
      ...geo.boxes.log(lane.id),
      act: () => enter(lane.id),
    }));

/** [[group, things]] of what is drawn, in the order of the keyboard; `enter` goes into a lane. */
export const things = ({ geo, step, logs: drawnLogs, over }, enter) => [
  ["top", top(geo, drawnLogs)],
  ["fold", fold(geo)],
  ["lanes", [...tanks(geo), ...marks(geo)]],
  ["walk", lanes(geo, enter)],
  ["logs", logs(geo)],
  ["flying", flying(geo, step, over)],
  ["links", links(over)],
];
