// At a tank's left wall: where epochs begin, how far the leader takes its followers to be, offsets.

import { epochClass, g, pack, path, rect, text, textWidth, title } from "../node.js";
import { sized } from "./place.js";

/** At the left wall: tabs where epochs begin, the leader's flags for its followers, offsets. */
export function left(geo, lane, broker, replica, ctx) {
  const tabs = ctx.layers.has("epochs") ? epochTabs(geo, lane, broker, replica, ctx) : [];
  const flags = ctx.layers.has("watermarks") ? memories(geo, lane, broker, replica, ctx) : [];
  if (!geo.full)
    return [
      g(
        "epochs",
        tabs.map((one) => one.node(one.x)),
        { class: "epochs" },
      ),
    ];
  const placed = pack([...tabs, ...flags], 2, lane.top);
  const taken = placed.map((one) => one.at + one.width / 2);
  return [
    g(
      "epochs",
      placed.filter((one) => one.tab).map((one) => one.node(one.at)),
      { class: "epochs" },
    ),
    ...placed.filter((one) => !one.tab).map((one) => one.node(one.at)),
    g("offsets", offsets(geo, lane, taken), { class: "ruler" }),
  ];
}

function epochTabs(geo, lane, broker, replica, { t }) {
  return (replica.epochs ?? []).map(([e, start]) => {
    const hollow = start >= replica.leo;
    const label = geo.gap.left >= 40 ? `e${e} · ${start}` : `e${e}`;
    const y = geo.y(Math.max(start, geo.base), lane) - geo.pitch / 2 - 9;
    const size = geo.narrow ? 10 : 11;
    const w = Math.min(geo.gap.left - 3, textWidth(label, size, true) + (geo.narrow ? 8 : 13));
    const node = (top) =>
      g(
        `c${e}`,
        geo.full
          ? [
              path(
                "p",
                `M${lane.x - w} ${top}h${w - 6}l6 9l-6 9h${6 - w}z`,
                `chip ${hollow ? "hollow" : epochClass(e)}`,
              ),
              rect("r", lane.x - w, top, w, 18, "touch"),
              text(
                "t",
                lane.x - w + (w - 5) / 2,
                top + 13,
                label,
                `chiptext ${hollow ? "hollow" : ""}`,
                {
                  style: `font-size:${size}px`,
                },
              ),
              title("title", t("mark.epoch_chip", { e, o: start })),
            ]
          : [rect("r", lane.x - 3, top + 6, 3, 6, `chip ${epochClass(e)}`)],
        { "data-id": `b${broker.id}:e${e}`, "data-start": start },
      );
    return { tab: true, x: Math.min(y, lane.floor - 19), width: 18, node };
  });
}

const LEAST = 6; // px: names that would be smaller are counted, and told on touch

/** How far the leader takes each follower to be; amber where it errs. */
function memories(geo, lane, broker, replica, { t, name }) {
  if (!geo.full || replica.role !== "leader") return [];
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
      const names = ids.map((id) => name(id, true)).join(geo.gap.left < 40 ? "," : t("list.comma"));
      const label = textWidth(names, LEAST, true) <= room ? names : `×${ids.length}`;
      const size = sized(label, room, geo.narrow ? 10 : 11);
      const w = textWidth(label, size, true) + 14;
      const who = ids.map((id) => name(id)).join(t("list.comma"));
      const node = (top) =>
        g(
          `mem${ids.join("-")}`,
          [
            path("tri", `M${lane.x - 8} ${top + 3}l8 4l-8 4z`, `memory ${wrong ? "wrong" : ""}`),
            text("t", lane.x - 10, top + 11, label, `memtext ${wrong ? "wrong" : ""}`, {
              "text-anchor": "end",
              style: `font-size:${size}px`,
            }),
            rect("r", lane.x - w, top, w, 14, "touch"),
            title("title", t("mark.memory", { l: name(broker.id), b: who, o: leo })),
          ],
          { class: "remote", "data-id": `b${broker.id}:mem${ids.join("-")}`, "data-value": leo },
        );
      return { x: geo.y(Math.max(leo, geo.base), lane) - 7, width: 14, node };
    });
}

/** Offsets beside the cells, where nothing else stands. */
function offsets(geo, lane, taken) {
  const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * geo.pitch >= 17) ?? 1000;
  const found = [];
  for (let o = Math.ceil(geo.fold / every) * every; o < geo.end; o += every) {
    const y = (geo.y(o, lane) + geo.y(o + 1, lane)) / 2;
    if (taken.some((other) => Math.abs(other - y) < 17)) continue;
    found.push(
      text(`o${o}`, lane.x - 7, y + 4, o, "ruler", {
        "text-anchor": "end",
        style: `font-size:${sized(String(o), geo.gap.left - 9, 11.5, false)}px`,
      }),
    );
  }
  return found;
}
