// At a tank's left wall, for experts: where epochs begin, how far the leader takes its followers to
// be, offsets.

import { epochClass, g, pack, path, rect, text, textWidth, title } from "../node.js";
import { fitted } from "./place.js";

/** At the left wall: tabs where epochs begin, the leader's flags for its followers, offsets. */
export function left(geo, lane, broker, replica, ctx) {
  const { layers } = ctx;
  const tabs = layers.has("epochs") ? epochTabs(geo, lane, broker, replica, ctx) : [];
  const flags = layers.has("remote") ? memories(geo, lane, broker, replica, ctx) : [];
  const placed = pack([...tabs, ...flags], 2, lane.top);
  const taken = placed.map((one) => one.at + one.width / 2);
  return [
    g(
      "epochs",
      placed.filter((one) => one.tab).map((one) => one.node(one.at)),
      { class: "epochs" },
    ),
    ...placed.filter((one) => !one.tab).map((one) => one.node(one.at)),
    ...(layers.has("offsets")
      ? [g("offsets", offsets(geo, lane, replica, taken), { class: "ruler" })]
      : []),
  ];
}

function epochTabs(geo, lane, broker, replica, { t }) {
  return (replica.epochs ?? []).map(([e, start]) => {
    const hollow = start >= replica.leo;
    const { small: size } = geo.type;
    const whole = `e${e} · ${start}`;
    const room = geo.gap.left - 15;
    const label = textWidth(whole, size, true) <= room ? whole : `e${e}`;
    const y = geo.y(Math.max(start, geo.base), lane) - geo.pitch / 2 - 10;
    const w = Math.min(geo.gap.left - 3, textWidth(label, size, true) + 11);
    const node = (top) =>
      g(
        `c${e}`,
        [
          path(
            "p",
            `M${lane.x - w} ${top}h${w - 6}l6 10l-6 10h${6 - w}z`,
            `chip ${hollow ? "hollow" : epochClass(e)}`,
          ),
          rect("r", lane.x - w, top, w, 20, "touch"),
          text(
            "t",
            lane.x - w + (w - 5) / 2,
            top + 15,
            label,
            `chiptext ${hollow ? "hollow" : ""}`,
            { size },
          ),
          title("title", t("mark.epoch_chip", { e, o: start })),
        ],
        { "data-id": `b${broker.id}:e${e}`, "data-start": start },
      );
    return { tab: true, x: Math.min(y, lane.floor - 21), width: 20, node };
  });
}

/** How far the leader takes each follower to be; amber where it errs. */
function memories(geo, lane, broker, replica, { t, name }) {
  if (replica.role !== "leader") return [];
  const at = new Map();
  for (const [id, memory] of Object.entries(replica.remote ?? {})) {
    const leo = memory.leo ?? -1;
    at.set(leo, [...(at.get(leo) ?? []), Number(id)]);
  }
  return [...at]
    .filter(([leo]) => leo >= 0)
    .map(([leo, ids]) => {
      const wrong = ids.some((id) => (geo.part.replicas[id]?.leo ?? leo) !== leo);
      const room = geo.gap.left - 12;
      const names = ids.map((id) => name(id, true)).join(",");
      const { small } = geo.type;
      const [label, size] = fitted([names, `×${ids.length}`], room, small, small);
      const w = textWidth(label, size, true) + 14;
      const who = ids.map((id) => name(id)).join(t("list.comma"));
      const node = (top) =>
        g(
          `mem${ids.join("-")}`,
          [
            path("tri", `M${lane.x - 8} ${top + 4}l8 4l-8 4z`, `memory ${wrong ? "wrong" : ""}`),
            text("t", lane.x - 10, top + 13, label, `memtext ${wrong ? "wrong" : ""}`, {
              "text-anchor": "end",
              size,
            }),
            rect("r", lane.x - w, top, w, 16, "touch"),
            title("title", t("mark.memory", { l: name(broker.id), b: who, o: leo })),
          ],
          { class: "remote", "data-id": `b${broker.id}:mem${ids.join("-")}`, "data-value": leo },
        );
      return { x: geo.y(Math.max(leo, geo.base), lane) - 8, width: 16, node };
    });
}

/** Offsets beside the cells, where nothing else stands. */
function offsets(geo, lane, replica, taken) {
  const found = [];
  const first = Math.max(geo.fold, replica.records[0]?.o ?? geo.fold);
  for (let o = first; o < geo.end; o += 1) {
    const y = (geo.y(o, lane) + geo.y(o + 1, lane)) / 2;
    if (taken.some((other) => Math.abs(other - y) < 19)) continue;
    found.push(
      text(`o${o}`, lane.x - 7, y + 5, o, "ruler", { "text-anchor": "end", size: geo.type.small }),
    );
  }
  return found;
}
