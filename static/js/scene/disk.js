// The disk layer: what would survive a power failure, and from where a restart would begin.

import { fit, g, line, text, title } from "./node.js";

/** Under the cells a line, solid as far as it is on disk; small ticks for what is written beside
 *  it. */
export function disk(geo, broker, replica, y, { t }) {
  const from = geo.x(Math.max(replica.start ?? 0, geo.base));
  const flushed = Math.min(replica.flushed ?? 0, replica.leo);
  const on = geo.x(Math.max(flushed, geo.base)) - 3;
  const end = geo.x(replica.leo) - 3;
  const base = y.bottom + 2.5;
  const parts = [
    on > from && line("on", from, base, on, base, "ondisk"),
    end > on &&
      replica.leo > flushed &&
      line("off", Math.max(on, from), base, end, base, "inmemory"),
  ];
  if (geo.d.labels) {
    for (const [key, offset] of [
      ["cp", replica.hwCheckpoint],
      ["rp", replica.recovery],
    ]) {
      if (offset === undefined || offset === null) continue;
      const x = geo.x(Math.max(offset, geo.base)) - 1.5 + (key === "rp" ? 2.5 : 0);
      parts.push(
        g(
          key,
          [
            line("l", x, base + 1, x, base + 8, `tick ${key}`),
            title("title", t(`disk.${key}.why`, { o: offset })),
          ],
          { "data-id": `b${broker.id}:${key}`, "data-value": offset },
        ),
      );
    }
    const at = geo.left + words(replica);
    parts.push(
      text(
        "w",
        at,
        y.foot + 35,
        fit(
          t("disk.words", { f: flushed, c: replica.hwCheckpoint ?? 0, r: replica.recovery ?? 0 }),
          geo.width - at - 14,
          12,
        ),
        "small",
      ),
    );
  }
  return [
    g("disk", parts, { class: "disk", "data-id": `b${broker.id}:disk`, "data-value": flushed }),
  ];
}

/** Room that the epoch chips take in the row the words share with them. */
const words = (replica) =>
  64 + (replica.epochs ?? []).reduce((sum, [e, o]) => sum + 8 * `${e}→${o}`.length + 15, 0);
