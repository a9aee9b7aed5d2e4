// Producers with what they wait for, consumers with what they see.

import { fit, g, icon, line, rect, spans, text, textWidth, title } from "./node.js";

/** Producers with what they wait for, consumers with what they see, and the observer's count. */
export function clients(geo, view, { t, name, changed, blocked }) {
  const y = geo.heads.clients;
  const parts = [];
  let at = geo.narrow ? 8 : geo.gutter + 14;
  const room = geo.width - geo.corner;
  const crowded = !geo.narrow && view.clients.length > (room - at > 620 ? 3 : 2);
  for (const c of view.clients.slice(0, geo.narrow ? 2 : 9)) {
    if (parts.length && at > room - 84) break; // no room for its name: the tables have it
    const producer = c.kind === "producer";
    const label = `${c.id}`;
    const seen = geo.part.replicas[c.believes];
    const all = producer
      ? t("client.sent", { n: c.sent ?? view.ledger.sent, a: c.acked ?? view.ledger.acked })
      : seen
        ? t("client.sees", { o: c.position ?? 0, hw: seen.hw, leo: seen.leo })
        : t("client.reads", { o: c.position ?? 0 });
    const short = producer
      ? `${c.acked ?? view.ledger.acked}/${c.sent ?? view.ledger.sent}`
      : `→ ${c.position ?? 0}`;
    const words = crowded
      ? short
      : fit(all, room - at - textWidth(`${label} `, 12.5, true) - 34, 12.5);
    const w = textWidth(`${label} `, 12.5, true) + textWidth(words, 12.5) + 26;
    const waiting = (c.waiting ?? []).slice(
      0,
      Math.max(1, Math.min(5, Math.floor((room - at - w - 6) / 70))),
    );
    parts.push(
      g(
        `client-${c.id}`,
        [
          rect("bg", at, y + 3, w, 24, `client ${producer ? "" : "reader"}`, { rx: 12 }),
          spans(
            "w",
            at + 12,
            y + 19.5,
            [
              [`${label} `, "strong"],
              [words, "quiet"],
            ],
            "field",
            { "font-size": 12.5 },
          ),
          ...waiting.map((wait, i) =>
            waitMark(wait, at + w + 6 + i * 70, y + 4, { t, name, blocked }),
          ),
          title("title", `${label} ${all}`),
          changed.has(`client:${c.id}`) &&
            line("chg", at + 12, y + 28, at + w - 12, y + 28, "changed"),
        ],
        {
          "data-id": String(c.id),
          "data-acked": c.acked ?? view.ledger.acked,
          "data-position": c.position ?? "",
        },
      ),
    );
    at += w + 14 + waiting.length * 70;
  }
  return g("clients", parts);
}

/** What a producer waits for; with acks=all it waits for those the high watermark waits for. */
function waitMark(wait, x, y, { t, name, blocked }) {
  const label = [wait.m].flat().join(" ");
  const ids = wait.acks === -1 ? [...blocked] : [];
  const whom =
    ids.length && !label.includes(",")
      ? `${label}→${ids.map((id) => name(id, true)).join("")}`
      : label;
  const more = ids.length
    ? ` ${t("mark.hw_waits", { b: ids.map((id) => name(id)).join(t("list.comma")) })}`
    : "";
  return g(
    `w-${label}`,
    [
      rect("r", x, y + 1, 66, 20, "waiting", { rx: 4 }),
      icon("i", "hourglass", x + 4, y + 5, 12, "warn"),
      text("t", x + 18, y + 15, fit(whom, 46, 11.5), "mono small"),
      title(
        "title",
        t("client.waits", {
          m: label,
          b: name(wait.to),
          acks: wait.acks === -1 ? "all" : wait.acks,
        }) + more,
      ),
    ],
    { "data-id": `wait:${label}` },
  );
}
