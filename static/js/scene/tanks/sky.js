// Above the tanks: what is on its way, where it covers nothing.  It leaves and arrives at its own
// height; at rest it hangs half-way between the two it is for.  Pure.

import { g, icon, path, rect, text, textWidth, title } from "../node.js";
import { anchor } from "./layout.js";
import { CHIP, slip } from "./slip.js";
import { heightOf, progress } from "./speech.js";

const MOST = 24;
const MISSES = 4; // messages without a place: the sky is full

/** Finds room in the rows of the sky, so that nothing covers another. */
export function rows(geo) {
  const { h } = CHIP[geo.narrow ? "narrow" : "wide"];
  const count = geo.skies;
  /** @type {[number, number][][]} */
  const taken = Array.from({ length: count }, () => []);
  const left = (row) => (row === 0 && geo.control?.label ? geo.control.w + 8 : 4);
  return {
    /** {x, y} of the left upper corner, or null where the sky is full. */
    find(wish, w, lines = 1) {
      let best = /** @type {{x: number, row: number, cost: number} | null} */ (null);
      for (let row = 0; row + lines <= count; row += 1) {
        const at = nearest(
          wish,
          w,
          [left(row), geo.width - 4],
          taken.slice(row, row + lines).flat(),
        );
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
function nearest(wish, w, [left, right], others) {
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
  let misses = 0;
  for (const m of view.messages) {
    // A response that is no longer awaited fades with the step that abandoned it.
    if (m.unawaited && !ctx.layers.has("heartbeats")) continue;
    if (out.length >= MOST || misses >= MISSES) {
      rest += 1;
      continue;
    }
    const made = slip(geo, m, ctx);
    const [from, to] = [m.from, m.to].map((end) => anchor(geo, end, heightOf(m)));
    const along = from[0] + (to[0] - from[0]) * Math.min(0.62, progress(m, view.t));
    const at = places.find(along - made.w / 2, made.w);
    if (!at) {
      rest += 1;
      misses += 1;
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
        size: geo.type.small,
      }),
    );
  return out;
}

/** Links that are cut, slow, lossy or held: a label over the two brokers, and what is cut. */
export function oddLinks(geo, view, places, { t, name, words }) {
  return view.links
    .map((l) => {
      const label = `${name(l.a, true)}–${name(l.b, true)} ${words(l, t, name)}`;
      const { small } = geo.type;
      const w = textWidth(label, small) + 32;
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
          text("t", at.x + 23, at.y + 17, label, `small ${cut ? "bad" : "warn"}`, { size: small }),
          title("title", label),
        ],
        { class: "linkmark", "data-id": `link:${l.a}:${l.b}`, "data-cut": l.cut ?? "none" },
      );
    })
    .filter(Boolean);
}
