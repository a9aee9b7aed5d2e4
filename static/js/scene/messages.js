// Messages in flight, in the gutter left of the cards.

import { along, anchor } from "./layout.js";
import { fit, g, icon, rect, text, textWidth, title } from "./node.js";

const W = 128;
const H = 36;
const MOST = 24;
const ON_ONE_ARC = 6;
const LONG_MS = 1000;

/** What a message says under its name: the two or three fields that matter.
 * @param {(id: number, short?: boolean) => string} [name] */
export function essence(m, t, name = String) {
  const f = m.fields ?? {};
  const bits = [];
  const offset = f.offset ?? f.fetchOffset;
  if (m.error) return m.error;
  if (offset !== undefined && offset >= 0 && (!m.reply || f.hw === undefined))
    bits.push(t("msg.offset", { o: offset }));
  if (f.isr)
    bits.push(
      `ISR [${[f.isr]
        .flat()
        .map((b) => name(b, true))
        .join(", ")}]`,
    );
  if (f.diverging) bits.push(t("msg.diverges"));
  if (m.reply && f.hw !== undefined) bits.push(`HW ${f.hw}`);
  const epoch = f.epoch ?? f.le ?? f.leaderEpoch;
  if (epoch !== undefined && bits.length < 2 && !m.records?.length)
    bits.push(t("msg.epoch", { e: epoch }));
  return bits.join(" · ");
}

/** How far a message at rest has come: by its clock; at its receiver's edge while it waits for a
 *  hand, half way while its link is held. */
export function progress(m, now) {
  if (m.held) return m.deliverable ? 0.8 : 0.5;
  if (m.due === null || m.due === undefined || m.due <= m.sent) return 0.5;
  return Math.min(0.85, Math.max(0.15, (now - m.sent) / (m.due - m.sent)));
}

/** The messages of a view as travellers: groups that know where they come from and where they
 *  go. */
export function messages(geo, view, { t, name }) {
  const taken = [];
  const arcs = new Map();
  for (const m of view.messages) {
    const arc = [m.from, m.to].sort().join("/");
    arcs.set(arc, [...(arcs.get(arc) ?? []), m]);
  }
  const [shown, behind] = [[], new Map()];
  for (const m of view.messages) {
    const all = arcs.get([m.from, m.to].sort().join("/"));
    const at = all.indexOf(m);
    if (at < ON_ONE_ARC && shown.length < MOST) shown.push(m);
    // More than fit on one arc: the last one drawn stands for the rest of them.
    if (at === ON_ONE_ARC - 1 && all.length > ON_ONE_ARC) behind.set(m.id, all.length - ON_ONE_ARC);
  }
  const rest =
    view.messages.length - shown.length - [...behind.values()].reduce((a, b) => a + b, 0);
  const more =
    rest > 0 && !geo.narrow
      ? [text("more", 8, geo.height - 4, t("msg.more", { n: rest }), "small")]
      : [];
  return [
    ...more,
    ...shown.map((m) => {
      const from = anchor(geo, m.from);
      const to = anchor(geo, m.to);
      const shift = geo.narrow ? 0 : -geo.gutter / 2 - 6;
      const [, y] = along(from, to, progress(m, view.t));
      const at = [from[0] + shift, free(taken, y, geo.height)];
      const a = {
        class: `msg ${m.reply ? "reply" : "ask"} ${m.error ? "error" : ""}`,
        "data-id": `m${m.id}`,
        "data-kind": m.kind,
        transform: `translate(${at[0]},${at[1]})`,
      };
      return g(`msg-${m.id}`, face(m, behind.get(m.id) ?? 0, { t, name }), a, {
        at,
        from: [from[0] + shift, from[1]],
        to: [to[0] + shift, to[1]],
        bow: 3,
      });
    }),
  ];
}

function free(taken, wanted, height) {
  let y = Math.min(Math.max(wanted, 20), height - 20);
  for (let tries = 0; tries < 30 && taken.some((other) => Math.abs(other - y) < H + 3); tries += 1)
    y += 6;
  taken.push(y);
  return y;
}

function face(m, behind, { t, name }) {
  const kind = t(`msg.kind.${m.kind}`) === `msg.kind.${m.kind}` ? m.kind : t(`msg.kind.${m.kind}`);
  const where = ` → ${name(m.to, true)}`;
  const long = !m.held && m.due - m.sent >= LONG_MS;
  const room = W - 13 - ((m.held && !m.deliverable) || long ? 14 : 0);
  // A long name is written smaller before it is cut.
  const size = Math.min(11.5, Math.max(9.5, (11.5 * room) / textWidth(kind + where, 11.5, true)));
  const head = fit(kind, room - textWidth(where, size, true), size, true) + where;
  const carried = m.records ?? [];
  const what = essence(m, t, name);
  const parts = [
    behind > 0 && rect("stack", -W / 2 + 5, -H / 2 + 5, W, H, "msgbox", { rx: 9 }),
    rect("r", -W / 2, -H / 2, W, H, "msgbox", {
      rx: m.kind.startsWith("Alter") || m.kind.startsWith("Leader") ? 2 : 9,
    }),
    text("h", -W / 2 + 8, -3.5, head, "msghead", { style: `font-size:${size}px` }),
    m.held &&
      m.deliverable &&
      m.behind === undefined &&
      icon("go", "play", W / 2 - 17, H / 2 - 15, 10, "go"),
    long && icon("long", "clock", W / 2 - 18, -H / 2 + 3, 12, "warn"),
    behind > 0 &&
      text("behind", W / 2 - 5, H / 2 + 16, `+${behind}`, "msghead", { "text-anchor": "end" }),
    m.held && !m.deliverable && icon("held", "hand", W / 2 - 18, -H / 2 + 3, 12, "warn"),
  ];
  let x = -W / 2 + 8;
  carried.slice(0, 4).forEach((e, i) => {
    parts.push(
      rect(`c${i}`, x, 3, 11, 11, `mini e${((e % 7) + 7) % 7}`, { rx: 2 }),
      text(`ct${i}`, x + 5.5, 12, e, "mininum"),
    );
    x += 13;
  });
  if (carried.length > 4) {
    parts.push(text("more", x + 1, 12.5, `+${carried.length - 4}`, "msgtext"));
    x += 8 + textWidth(`+${carried.length - 4}`, 11);
  }
  if (carried.length) x += 2;
  const edge = W / 2 - (m.held && m.deliverable ? 18 : 5);
  if (what && edge - 1 - x > 14) parts.push(text("w", x, 12.5, fit(what, edge - x, 11), "msgtext"));
  parts.push(title("title", `${kind} ${name(m.from, true)} → ${name(m.to, true)} ${what}`));
  return parts;
}
