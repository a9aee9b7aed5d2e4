// What a broker believes, and how long the controller still believes in it.

import { circle, fit, g, icon, path, rect, text, textWidth, title } from "./node.js";

/** Does this replica's belief contradict the controller's record? */
export function isStale(replica, record) {
  const belief = replica?.belief;
  return (
    Boolean(belief) &&
    belief.le >= 0 &&
    replica.role !== "offline" &&
    (belief.leader !== record.leader || belief.le !== record.le)
  );
}

export function belief(lane, x, right, { stale, selfish, replica, broker }, { t, name }) {
  const y = lane.y + 77;
  const b = replica.belief;
  const leader = b && b.leader >= 0 ? name(b.leader, true) : t("card.nobody");
  const lead = stale ? 17 : 0;
  const believes = (key) => t(key, { leader, e: b?.le ?? "?" });
  const long = believes("card.believes");
  const roomy = textWidth(long, 12) <= right - x - 11 - lead;
  const words = selfish
    ? believes("card.self")
    : b && b.le >= 0
      ? roomy
        ? long
        : believes("card.sees")
      : t("card.knows_nothing");
  return g(
    "belief",
    [
      stale && icon("i", "alert", x + 11, y - 11, 13, "warn"),
      text(
        "t",
        x + 11 + lead,
        y,
        fit(words, right - x - 11 - lead, 12),
        `small ${stale ? "warn stale" : ""}`,
      ),
    ],
    { class: "belief", "data-id": `b${broker.id}:belief`, "data-stale": stale ? 1 : 0 },
  );
}

/** The ring that runs down until the controller fences a broker that it does not hear. */
export function session(geo, lane, broker, right, { t, session: whole }) {
  if (broker.session === null || broker.session === undefined || !whole) return null;
  const left = Math.max(0, broker.session);
  const share = Math.min(1, left / whole);
  const [cx, cy, r] = [right - 9, lane.y + geo.laneH - (broker.rack ? 38 : 20), 8];
  const angle = 2 * Math.PI * share;
  const end = `${(cx + r * Math.sin(angle)).toFixed(2)} ${(cy - r * Math.cos(angle)).toFixed(2)}`;
  const low = share < 0.34 ? "low" : "";
  return g(
    "session",
    [
      circle("base", cx, cy, r, "ringbase"),
      share >= 0.999
        ? circle("full", cx, cy, r, "ring")
        : path(
            "arc",
            `M${cx} ${cy - r}A${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${end}`,
            `ring ${low}`,
          ),
      text(
        "t",
        cx - r - 5,
        cy + 4,
        t("card.session", { s: (left / 1000).toFixed(left < 10_000 ? 1 : 0) }),
        `small ${low ? "warn" : ""}`,
        { "text-anchor": "end" },
      ),
      title("title", t("card.session.why", { ms: left })),
    ],
    { "data-id": `b${broker.id}:session`, "data-value": left },
  );
}

/** The rack, as a small tab at the card's foot. */
export function rack(geo, lane, broker, h) {
  const label = fit(broker.rack, 64, 11);
  const w = textWidth(label, 11, true) + 12;
  const [x, y] = [geo.cardX + geo.cardW - w - 8, lane.y + 5 + h - 17];
  return g(
    "rack",
    [
      rect("r", x, y, w, 17, "racktab", { rx: 3 }),
      text("t", x + w / 2, y + 12.5, label, "small", { "text-anchor": "middle", "font-size": 11 }),
    ],
    { "data-id": `b${broker.id}:rack` },
  );
}
