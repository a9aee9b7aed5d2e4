// A message as a slip of paper: what it says, the records it carries, who it is for.  Pure.

import { epochClass, fit, icon, rect, text, textWidth, title } from "../node.js";
import { sized } from "./place.js";
import { speech } from "./speech.js";

export const CHIP = { wide: { h: 32, size: 14 }, narrow: { h: 25, size: 12 } };

/** What an answer brings besides records.  An error is what one looks for: in bold, and whole, as
 *  far as there is room. */
function tagOf(words, loud, narrow, size, most) {
  const room = Math.min((loud ? [200, 260] : [70, 150])[narrow ? 0 : 1], most);
  const small = loud ? sized(words, room, size, size) : size;
  return { tag: fit(words, room, small, loud), small };
}

/** A slip around its own middle: {parts, w, h, ack}. */
export function slip(geo, m, ctx) {
  const { h, size } = CHIP[geo.narrow ? "narrow" : "wide"];
  const said = speech(m, geo.part, ctx);
  const most = geo.narrow ? 2 : 4;
  const minis = said.records.slice(0, most);
  const more = said.records.length - minis.length;
  const cell = (r) => Math.max(22, textWidth(r.id, size, true) + 8);
  const whom = ctx.name(m.to, true);
  const to = `→ ${geo.narrow ? whom.replace(/(?<=\D{4}) \d+$/, "") : whom}`;
  const words = fit(said.words, geo.narrow ? 120 : 190, size, true);
  const loud = Boolean(m.error) && !m.unawaited;
  const head = words ? textWidth(words, size, true) + 6 : 0;
  const untagged = [
    14 + head,
    ...minis.map((r) => cell(r) + 3),
    more > 0 ? textWidth(`+${more}`, size) + 5 : 0,
    textWidth(to, size) + 2,
    m.held && !m.deliverable ? 15 : 0,
  ].reduce((a, b) => a + b);
  const { tag, small } = tagOf(said.tag, loud, geo.narrow, size, geo.width - 14 - untagged);
  const w = Math.round(untagged + (tag ? textWidth(tag, small, loud) + 6 : 0));
  const parts = [rect("r", -w / 2, -h / 2, w, h, "msgbox", { rx: said.ack ? h / 2 : 6 })];
  const style = { style: `font-size:${size}px` };
  let x = -w / 2 + 8;
  const base = size * 0.36;
  const put = (node, width) => {
    parts.push(...[node].flat());
    x += width;
  };
  if (words) put(text("h", x, base, words, "msghead", style), head);
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
        text(`ct${i}`, x + wide / 2, base, r.id, "mininum", style),
      ],
      wide + 3,
    );
  }
  if (more > 0)
    put(text("more", x, base, `+${more}`, "msgtext", style), textWidth(`+${more}`, size) + 5);
  if (tag)
    put(
      text("w", x + 2, base, tag, /^HW/.test(tag) ? "msgtext hwtag" : "msgtext", { size: small }),
      textWidth(tag, small, loud) + 6,
    );
  put(text("to", x, base, to, "msgtext", style), textWidth(to, size) + 4);
  if (m.held && !m.deliverable) parts.push(icon("held", "hand", w / 2 - 19, -6, 12, "warn"));
  parts.push(
    title(
      "title",
      `${m.kind} ${ctx.name(m.from, true)} → ${ctx.name(m.to, true)} ${said.words} ${said.tag}`,
    ),
  );
  return { parts, w, h, ack: said.ack };
}
