// Above the tanks: what is on its way, where it covers nothing.  It leaves and arrives at its own
// height; at rest it hangs half-way between the two it is for.  Pure.

import { epochClass, fit, g, icon, path, rect, text, textWidth, title } from "../node.js";
import { anchor } from "./layout.js";
import { sized } from "./place.js";
import { heightOf, progress, speech } from "./speech.js";

const MOST = 24;
const CHIP = { wide: { h: 30, size: 12.5 }, narrow: { h: 24, size: 11 } };

/** Finds room in the rows of the sky, so that nothing covers another. */
export function rows(geo) {
  const { h } = CHIP[geo.narrow ? "narrow" : "wide"];
  const count = Math.max(1, Math.floor((geo.top - geo.heads.sky - 4) / (h + 4)));
  /** @type {[number, number][][]} */
  const taken = Array.from({ length: count }, () => []);
  const right = (row) => geo.width - (row === 0 ? geo.corner : 0) - 4;
  return {
    /** {x, y} of the left upper corner, or null where the sky is full. */
    find(wish, w, lines = 1) {
      let best = /** @type {{x: number, row: number, cost: number} | null} */ (null);
      for (let row = 0; row + lines <= count; row += 1) {
        const at = nearest(wish, w, 4, right(row), taken.slice(row, row + lines).flat());
        if (at === null) continue;
        const cost = Math.abs(at - wish) + (count - lines - row) * 6;
        if (!best || cost < best.cost) best = { x: at, row, cost };
      }
      if (!best) return null;
      for (let i = 0; i < lines; i += 1) taken[best.row + i].push([best.x, best.x + w]);
      return { x: best.x, y: geo.heads.sky + 3 + best.row * (h + 4) };
    },
  };
}

const APART = 5; // px between two

/** Where `w` px stand nearest to a wish, clear of the others: as wished, or right beside one. */
function nearest(wish, w, left, right, others) {
  const most = Math.max(left, right - w);
  const at = Math.min(Math.max(wish, left), most);
  const beside = others.flatMap(([a, b]) => [a - w - APART, b + APART]);
  let best = /** @type {number | null} */ (null);
  for (const x of [at, ...beside]) {
    if (x < left || x > most) continue;
    if (best !== null && Math.abs(x - at) >= Math.abs(best - at)) continue;
    if (others.every(([a, b]) => x + w + APART <= a || x >= b + APART)) best = x;
  }
  return best;
}

/** The slips of a view: groups that know where they come from and where they go. */
export function messages(geo, view, places, ctx) {
  const out = [];
  let rest = 0;
  for (const m of view.messages) {
    if (out.length >= MOST) {
      rest += 1;
      continue;
    }
    const made = slip(geo, m, ctx);
    const [from, to] = [m.from, m.to].map((end) => anchor(geo, end, heightOf(m)));
    const along = from[0] + (to[0] - from[0]) * Math.min(0.62, progress(m, view.t));
    const at = places.find(along - made.w / 2, made.w);
    if (!at) {
      rest += 1;
      continue;
    }
    const kind = m.reply ? "reply" : "ask";
    const state = m.unawaited ? "faint" : m.error ? "error" : "";
    const mid = [at.x + made.w / 2, at.y + made.h / 2];
    out.push(
      g(
        `msg-${m.id}`,
        made.parts,
        {
          class: `msg slip ${kind} ${state} ${made.ack ? "ack" : ""}`,
          "data-id": `m${m.id}`,
          "data-kind": m.kind,
          transform: `translate(${mid[0]},${mid[1]})`,
        },
        { at: mid, from, to, bow: 0, w: made.w, h: made.h },
      ),
    );
  }
  if (rest > 0)
    out.push(
      text("more", 6, geo.top - 2, ctx.t("msg.more", { n: rest }), "small", {
        style: "font-size:11px",
      }),
    );
  return out;
}

/** What an answer brings besides records.  An error is what one looks for: in bold, and whole. */
function tagOf(words, loud, narrow, size) {
  const room = (loud ? [200, 260] : [70, 150])[narrow ? 0 : 1];
  const small = loud ? sized(words, room, size) : size;
  return { tag: fit(words, room, small, loud), small };
}

/** A slip around its own middle: {parts, w, h, ack}. */
function slip(geo, m, ctx) {
  const { h, size } = CHIP[geo.narrow ? "narrow" : "wide"];
  const said = speech(m, geo.part, ctx);
  const most = geo.narrow ? 2 : 4;
  const minis = said.records.slice(0, most);
  const more = said.records.length - minis.length;
  const cell = (r) => Math.max(22, textWidth(r.id, size - 1, true) + 8);
  const whom = ctx.name(m.to, true);
  const to = `→ ${geo.narrow ? whom.replace(/(?<=\D{4}) \d+$/, "") : whom}`;
  const words = fit(said.words, geo.narrow ? 120 : 190, size, true);
  const loud = Boolean(m.error) && !m.unawaited;
  const { tag, small } = tagOf(said.tag, loud, geo.narrow, size - 1);
  const widths = [
    words && textWidth(words, size, true) + 6,
    ...minis.map((r) => cell(r) + 3),
    more > 0 && textWidth(`+${more}`, size) + 5,
    tag && textWidth(tag, small, loud) + 6,
    textWidth(to, size - 1.5) + 2,
    m.held && !m.deliverable && 15,
  ].map((one) => one || 0);
  const w = Math.round(widths.reduce((a, b) => a + b, 0) + 14);
  let x = -w / 2 + 8;
  const base = size * 0.36;
  const parts = [rect("r", -w / 2, -h / 2, w, h, "msgbox", { rx: said.ack ? h / 2 : 6 })];
  const put = (node, width) => {
    parts.push(...[node].flat());
    x += width;
  };
  if (words) put(text("h", x, base, words, "msghead", { style: `font-size:${size}px` }), widths[0]);
  for (const [i, r] of minis.entries()) {
    const wide = cell(r);
    put(
      [
        rect(
          `c${i}`,
          x,
          -h / 2 + 4,
          wide,
          h - 8,
          `mini ${r.e === null ? "fresh" : epochClass(r.e)}`,
          { rx: 3 },
        ),
        text(`ct${i}`, x + wide / 2, base, r.id, "mininum", { style: `font-size:${size - 1}px` }),
      ],
      wide + 3,
    );
  }
  if (more > 0) put(text("more", x, base, `+${more}`, "msgtext"), textWidth(`+${more}`, size) + 5);
  if (tag)
    put(
      text("w", x + 2, base, tag, /^HW/.test(tag) ? "msgtext hwtag" : "msgtext", {
        style: `font-size:${small}px`,
      }),
      textWidth(tag, small, loud) + 6,
    );
  put(
    text("to", x, base, to, "msgtext", { style: `font-size:${size - 1.5}px` }),
    textWidth(to, size - 1.5) + 4,
  );
  if (m.held && !m.deliverable) parts.push(icon("held", "hand", w / 2 - 19, -6, 12, "warn"));
  parts.push(
    title(
      "title",
      `${m.kind} ${ctx.name(m.from, true)} → ${ctx.name(m.to, true)} ${said.words} ${said.tag}`,
    ),
  );
  return { parts, w, h, ack: said.ack };
}

/** Links somebody has cut, slowed, made lossy or holds: a label over the two, and what is cut. */
export function oddLinks(geo, view, places, { t, name, words }) {
  return view.links
    .map((l) => {
      const label = `${name(l.a, true)}–${name(l.b, true)} ${words(l, t, name)}`;
      const w = textWidth(label, 11) + 30;
      const [a, b] = [anchor(geo, l.a), anchor(geo, l.b)];
      const at = places.find((a[0] + b[0]) / 2 - w / 2, w);
      if (!at) return null;
      const cut = l.cut && l.cut !== "none";
      const [one, other] = [l.a, l.b].map((end) => geo.voters?.lanes.get(end));
      const y = one && other ? one.top - 6 : geo.top - 2;
      const sign = cut ? "scissors" : l.held ? "hand" : l.loss ? "cross" : "clock";
      return g(
        `link-${l.a}-${l.b}`,
        [
          path("l", `M${a[0]} ${y + 10}V${y}H${b[0]}V${y + 10}`, `link ${cut ? "cut" : "odd"}`),
          rect("bg", at.x, at.y + 2, w, 22, "linkbox", { rx: 11 }),
          icon("i", sign, at.x + 6, at.y + 6, 14, cut ? "bad" : "warn"),
          text("t", at.x + 23, at.y + 17, label, `small ${cut ? "bad" : "warn"}`, {
            style: "font-size:11px",
          }),
          title("title", label),
        ],
        { class: "linkmark", "data-id": `link:${l.a}:${l.b}`, "data-cut": l.cut ?? "none" },
      );
    })
    .filter(Boolean);
}
