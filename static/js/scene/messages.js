// Messages in flight and the links they take, in the gutter left of the cards.

import { anchor } from "./layout.js";
import { along } from "./motion.js";
import { fit, g, icon, path, rect, text, textWidth, title } from "./node.js";

const W = 128;
const H = 36;

/** What a message says under its name: the two or three fields that matter. */
export function essence(m, t) {
  const f = m.fields ?? {};
  const bits = [];
  const offset = f.offset ?? f.fetchOffset;
  if (m.error) return m.error;
  if (offset !== undefined && offset >= 0 && (!m.reply || f.hw === undefined)) bits.push(t("msg.offset", { o: offset }));
  if (f.isr) bits.push(`ISR {${[f.isr].flat().join(",")}}`);
  if (f.diverging) bits.push(t("msg.diverges"));
  if (m.reply && f.hw !== undefined) bits.push(`HW ${f.hw}`);
  const epoch = f.epoch ?? f.le ?? f.leaderEpoch;
  if (epoch !== undefined && bits.length < 2 && !m.records?.length) bits.push(t("msg.epoch", { e: epoch }));
  return bits.join(" · ");
}

/** How far a message at rest has come: by its clock, or half way while somebody's hand holds it. */
export function progress(m, now) {
  if (m.held || m.due === null || m.due === undefined || m.due <= m.sent) return 0.5;
  return Math.min(0.85, Math.max(0.15, (now - m.sent) / (m.due - m.sent)));
}

/** The messages of a view as travellers: groups that know where they come from and where they go. */
export function messages(geo, view, { t, name }) {
  const taken = [];
  const shown = view.messages.slice(0, 24);
  return shown.map((m) => {
    const from = anchor(geo, m.from);
    const to = anchor(geo, m.to);
    const shift = geo.narrow ? 0 : -geo.gutter / 2 - 6;
    const [, y] = along(from, to, progress(m, view.t));
    const at = [from[0] + shift, free(taken, y, geo.height)];
    const a = { class: `msg ${m.reply ? "reply" : "ask"} ${m.error ? "error" : ""}`, "data-id": `m${m.id}`, "data-kind": m.kind, transform: `translate(${at[0]},${at[1]})` };
    return g(`msg-${m.id}`, face(m, { t, name }), a, { at, from: [from[0] + shift, from[1]], to: [to[0] + shift, to[1]], bow: 3 });
  });
}

function free(taken, wanted, height) {
  let y = Math.min(Math.max(wanted, 20), height - 20);
  for (let tries = 0; tries < 30 && taken.some((other) => Math.abs(other - y) < H + 3); tries += 1) y += 6;
  taken.push(y);
  return y;
}

function face(m, { t, name }) {
  const kind = t(`msg.kind.${m.kind}`) === `msg.kind.${m.kind}` ? m.kind : t(`msg.kind.${m.kind}`);
  const where = ` → ${name(m.to, true)}`;
  const room = W - 15 - (m.held && !m.deliverable ? 14 : 0) - textWidth(where, 11.5, true);
  const carried = m.records ?? [];
  const what = essence(m, t);
  const parts = [
    rect("r", -W / 2, -H / 2, W, H, "msgbox", { rx: m.kind.startsWith("Alter") || m.kind.startsWith("Leader") ? 2 : 9 }),
    text("h", -W / 2 + 8, -3.5, fit(kind, room, 11.5, true) + where, "msghead"),
    m.held && !m.deliverable && icon("held", "hand", W / 2 - 18, -H / 2 + 3, 12, "warn"),
  ];
  let x = -W / 2 + 8;
  carried.slice(0, 4).forEach((e, i) => {
    parts.push(rect(`c${i}`, x, 3, 11, 11, `mini e${((e % 7) + 7) % 7}`, { rx: 2 }), text(`ct${i}`, x + 5.5, 12, e, "mininum"));
    x += 13;
  });
  if (carried.length > 4) { parts.push(text("more", x + 1, 12.5, `+${carried.length - 4}`, "msgtext")); x += 8 + textWidth(`+${carried.length - 4}`, 11); }
  if (carried.length) x += 2;
  if (what && W / 2 - 6 - x > 14) parts.push(text("w", x, 12.5, fit(what, W / 2 - 5 - x, 11), "msgtext"));
  parts.push(title("title", `${kind} ${name(m.from, true)} → ${name(m.to, true)} ${what}`));
  return parts;
}

/** What an answer about an epoch's end means on the log of the one who asked: a line where it would part. */
export function partings(geo, view, { t, width }) {
  return view.messages.filter((m) => m.reply && (m.fields?.diverging || m.fields?.end >= 0) && geo.lanes.has(m.to) && geo.d.labels).map((m) => {
    const [e, end] = m.fields.diverging ?? [m.fields.epoch, m.fields.end];
    const lane = geo.lanes.get(m.to);
    const x = geo.x(Math.min(end, geo.end)) - 1.5;
    const label = t("mark.parts", { e, o: end });
    const wide = width(label, 11.5, true) + 14;
    const at = Math.min(x + 5, geo.width - wide - 8);
    return g(`part-${m.id}`, [
      path("l", `M${x} ${lane.log + 3}L${x} ${lane.log + geo.d.lane - 8}`, "parting"),
      rect("r", at, lane.log + geo.d.marks - 1, wide, 18, "partbox", { rx: 4 }),
      text("t", at + 7, lane.log + geo.d.marks + 12, label, "parttext"),
    ], { "data-id": `part:${m.to}`, "data-offset": end });
  });
}

/** Links worth drawing: those in use, and those somebody has broken. */
export function links(geo, view, { t, name }) {
  if (geo.narrow) return [];
  const out = [];
  const used = new Set(view.messages.map((m) => [String(m.from), String(m.to)].sort().join("-")));
  for (const pair of used) {
    const [a, b] = pair.split("-");
    if (a !== b) out.push(path(`use-${pair}`, arc(geo, a, b), "link"));
  }
  view.links.forEach((l) => {
    const words = linkWords(l, t, name);
    const cut = l.cut && l.cut !== "none";
    const a = anchor(geo, l.a);
    const b = anchor(geo, l.b);
    const wide = textWidth(words, 11) + 30;
    // The label sits on the arc where that is farthest out.
    const mid = [Math.max(16, a[0] - 0.75 * bowOf(geo, a[1], b[1]) - wide / 2 + 12), (a[1] + b[1]) / 2];
    out.push(g(`link-${l.a}-${l.b}`, [
      path("l", arc(geo, l.a, l.b), `link ${cut ? "cut" : "odd"}`),
      rect("bg", mid[0] - 12, mid[1] - 10, wide, 20, "linkbox", { rx: 10 }),
      icon("i", cut ? "scissors" : l.held ? "hand" : "clock", mid[0] - 6, mid[1] - 7, 14, cut ? "bad" : "warn"),
      text("t", mid[0] + 11, mid[1] + 4, words, `small ${cut ? "bad" : "warn"}`),
      title("title", `${name(l.a, true)} – ${name(l.b, true)}: ${words}`),
    ], { class: "linkmark", "data-id": `link:${l.a}:${l.b}`, "data-cut": l.cut ?? "none" }));
  });
  return out;
}

function linkWords(l, t, name) {
  if (l.cut === "both") return t("link.cut");
  if (l.cut && l.cut !== "none") {
    const [from, to] = l.cut === "a>b" ? [l.a, l.b] : [l.b, l.a];
    return `${name(from, true)}→${name(to, true)} ${t("link.cut")}`;
  }
  if (l.held) return t("link.held");
  if (l.loss) return t("link.loss", { n: Math.round(l.loss * 100) });
  return t("link.slow", { n: Array.isArray(l.delay) ? l.delay.join("–") : l.delay });
}

const bowOf = (geo, y1, y2) => Math.min((geo.gutter - 14) / 0.75, 44 + Math.abs(y2 - y1) * 0.3);

function arc(geo, a, b) {
  const [x1, y1] = anchor(geo, a);
  const [x2, y2] = anchor(geo, b);
  const bow = bowOf(geo, y1, y2);
  return `M${x1} ${y1}C${x1 - bow} ${y1} ${x2 - bow} ${y2} ${x2} ${y2}`;
}
