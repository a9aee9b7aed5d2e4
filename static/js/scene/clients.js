// Producers with what they wait for, consumers with what they see.

import { capital } from "../i18n/words.js";
import { fit, g, icon, line, rect, spans, text, textWidth, title } from "./node.js";
import { memberOf } from "./tanks/groups.js";
import { shorter } from "./tanks/place.js";

/** Producers with what they wait for, consumers with what they see, and the observer's count. */
export function clients(geo, view, { t, name, changed, blocked }) {
  const y = geo.heads.clients;
  const parts = [];
  let at = geo.narrow ? 8 : 14;
  const room = geo.width;
  const { small } = geo.type;
  const crowded = !geo.narrow && view.clients.length > (room - at > 620 ? 3 : 2);
  const shown = view.clients.slice(0, geo.narrow ? 2 : 9);
  const least = (c) =>
    c ? textWidth(`${called(c, view, name)} ${reads(c, geo, view, t)[1]}`, small, true) + 26 : 0;
  for (const [i, c] of shown.entries()) {
    if (parts.length && at > room - 84) break; // no room for its name: the tables have it
    const producer = c.kind === "producer";
    const label = called(c, view, name);
    const [all, short] = reads(c, geo, view, t);
    const needs = least(c);
    if (parts.length && at + needs > room) break;
    const left = room - at - least(shown[i + 1]) - 18; // the next one wants to be seen, too
    const space = left - textWidth(`${label} `, small, true) - 34;
    const fits = shorter(all).find((part) => textWidth(part, small) <= space);
    const words = crowded || needs + 24 > left ? short : (fits ?? short);
    const w = textWidth(`${label} `, small, true) + textWidth(words, small) + 26;
    const waiting = (c.waiting ?? []).slice(
      0,
      Math.max(0, Math.min(5, Math.floor((room - at - w - 6) / 70))),
    );
    parts.push(
      g(
        `client-${c.id}`,
        [
          rect("bg", at, y + 3, w, 28, `client ${producer ? "" : "reader"}`, { rx: 14 }),
          spans(
            "w",
            at + 12,
            y + 22,
            [
              [`${label} `, "strong"],
              [words, "quiet"],
            ],
            "field",
            { style: `font-size:${small}px` },
          ),
          ...waiting.map((wait, i) =>
            waitMark(wait, { x: at + w + 6 + i * 70, y: y + 7, small }, { t, name, blocked }),
          ),
          title("title", `${label} ${all}`),
          changed.has(`client:${c.id}`) &&
            line("chg", at + 12, y + 32, at + w - 12, y + 32, "changed"),
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

/** What a client has done, in full and in few letters. */
function reads(c, geo, view, t) {
  const seen = geo.part.replicas[c.believes];
  const [a, n] = [c.acked ?? view.ledger.acked, c.sent ?? view.ledger.sent];
  const o = c.position ?? 0;
  if (c.kind === "producer") return [t("client.sent", { n, a }), `${a}/${n}`];
  const member = memberOf(view, c, t);
  if (member) return [member, member];
  const all = seen ? t("client.sees", { o, hw: seen.hw, leo: seen.leo }) : t("client.reads", { o });
  return [all, `→ ${o}`];
}

/** "Producer 1", and "Producer" where there is no other. */
export function called(c, view, name) {
  const alone = view.clients.filter((one) => one.kind === c.kind).length === 1;
  return alone ? capital(name(c.id)).replace(/\s\d+$/, "") : capital(name(c.id));
}

/** What a producer waits for; with acks=all it waits for those the high watermark waits for.
 *  `words`: "no ack yet: m1" where there is room, else the record alone. */
export function waitMark(
  wait,
  { x, y, w = 66, h = 20, small },
  { t, name, blocked },
  words = false,
) {
  const label = [wait.m].flat().join(" ");
  const ids = wait.acks === -1 ? [...blocked] : [];
  const more = ids.length
    ? ` ${t("mark.hw_waits", { b: ids.map((id) => name(id)).join(t("list.comma")) })}`
    : "";
  const shown = words ? t("scene.waits", { m: label }) : label;
  const acks = wait.acks === -1 ? "all" : wait.acks;
  return g(
    `w-${label}`,
    [
      rect("r", x, y, w, h, "waiting", { rx: 4 }),
      icon("i", "hourglass", x + 4, y + h / 2 - 6, 12, "warn"),
      text("t", x + 19, y + h / 2 + 5, fit(shown, w - 22, small), "small", { size: small }),
      title("title", t("client.waits", { m: label, b: name(wait.to), acks }) + more),
    ],
    { "data-id": `wait:${label}` },
  );
}
