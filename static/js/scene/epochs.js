// Leader epochs on a log: the vector at the lane's foot, and where each begins.

import { g, path, rect, text, title } from "./node.js";

export const epochClass = (e) => `e${((e % 7) + 7) % 7}`;

/** A bar and a small flag where an epoch begins on this log. */
export function begins(geo, replica, y, { t }) {
  if (geo.pitch < 14 || !geo.d.labels) return [];
  return (replica.epochs ?? [])
    .filter(([, o]) => o > geo.base && o >= geo.fold && o < replica.leo)
    .map(([e, o]) => {
      const x = geo.x(o) - 2;
      return g(`begin${e}`, [
        path("l", `M${x} ${y + geo.d.cellH + 1}V${y - 8}`, "begin"),
        path("f", `M${x} ${y - 8}l7 3l-7 3z`, `beginflag e${((e % 7) + 7) % 7}`),
        title("title", t("mark.epoch_chip", { e, o })),
      ]);
    });
}

/** The leader-epoch vector at the lane's foot and the flags at the first cell of each run. */
export function epochs(geo, broker, ctx) {
  const replica = geo.part.replicas[broker.id];
  if (!replica || !geo.d.epochs) return [];
  const lane = geo.lanes.get(broker.id);
  const y = lane.log + geo.d.epochs;
  const parts = [text("word", geo.left, y + 12, ctx.t("mark.epochs"), "small", {})];
  let x = geo.left + ctx.width(ctx.t("mark.epochs"), 12) + 8;
  for (const [e, start] of replica.epochs ?? []) {
    const label = `${e}→${start}`;
    const w = ctx.width(label, 11.5, true) + 12;
    const hollow = start >= replica.leo;
    parts.push(
      g(
        `c${e}`,
        [
          rect("r", x, y, w, 16, `chip ${hollow ? "hollow" : epochClass(e)}`, { rx: 3 }),
          text("t", x + w / 2, y + 12, label, `chiptext ${hollow ? "hollow" : ""}`),
          title("title", ctx.t("mark.epoch_chip", { e, o: start })),
        ],
        { "data-id": `b${broker.id}:e${e}`, "data-start": start },
      ),
    );
    x += w + 5;
  }
  return [g("epochs", parts, { class: "epochs" })];
}
