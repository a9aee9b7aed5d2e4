// What a log has not any more: records cut off, and acknowledged ones its leader is without.

import { g, path, rect, text, title } from "../node.js";
import { fitted, place } from "./place.js";

const BARE = 40; // px: a narrower strip has no room for a name

/** Records cut off since the last moment: at their own height, or beside what took their place. */
export function ghosts(geo, lane, broker, replica, ctx) {
  return (replica.cut ?? [])
    .filter((r) => r.o >= geo.fold)
    .map((r) => {
      const at = beside(geo, lane, r.o, r.o < replica.leo);
      return crossed(`cut${r.o}-${r.e}-${r.id}`, at, r, {
        cls: `ghost ${r.old ? "old" : ""}`,
        id: `b${broker.id}:cut${r.o}`,
        words: ctx.t(r.acked ? "cell.cut_acked" : "cell.cut", {
          o: r.o,
          m: r.id ?? "",
          b: ctx.name(broker.id),
        }),
        lost: ctx.lost.has(r.id),
        least: geo.type.small,
      });
    });
}

/** The place of an offset, or where another record has taken it a strip at its right. */
function beside(geo, lane, offset, taken) {
  const box = place(geo, lane, offset);
  return taken ? { ...box, x: lane.x + lane.w - 12, w: Math.min(30, lane.w * 0.4) } : box;
}

function crossed(key, { x, y, w, h }, r, { cls, id, words, lost = true, least }) {
  const most = Math.max(least, Math.min(32, h * 0.44));
  const [label, size] = fitted(String(r.id ?? ""), w - 6, most, least);
  return g(
    key,
    [
      rect("r", x, y, w, h, cls, { rx: 5 }),
      path(
        "x",
        `M${x + 4} ${y + 4}L${x + w - 4} ${y + h - 4}M${x + w - 4} ${y + 4}L${x + 4} ${y + h - 4}`,
        "ghostx",
      ),
      w >= BARE &&
        text("n", x + w / 2, y + h / 2 + size * 0.36, label, "num gonename", { "font-size": size }),
      title("title", words),
    ],
    {
      class: `cut ${lost ? "lostone" : ""}`,
      "data-id": id,
      "data-acked": r.acked ? 1 : 0,
    },
  );
}

/** The graves of acknowledged records, on the leader that is without them and on every broker that
 *  had them: at their own height, or beside what took their place. */
export function gone(geo, lane, broker, replica, ctx) {
  const drawn = new Set([...(replica.cut ?? []), ...replica.records].map((r) => r.id));
  const buried = ([p, o, id, brokers = []]) =>
    p === geo.part.p &&
    o >= geo.fold &&
    !drawn.has(id) &&
    (replica.role === "leader" || brokers.includes(broker.id));
  return ctx.graves.filter(buried).map(([, o, id]) =>
    crossed(
      `gone${o}-${id}`,
      beside(geo, lane, o, o < replica.leo),
      { o, id, acked: true },
      {
        cls: "ghost",
        id: `b${broker.id}:gone${o}`,
        words: ctx.t("scene.gone", { m: id, o, b: ctx.name(broker.id) }),
        least: geo.type.small,
      },
    ),
  );
}
