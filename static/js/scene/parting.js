// "Where did we part?": what two logs know of their epochs, side by side, while one asks the other.

import { epochClass } from "./epochs.js";
import { fit, g, path, rect, text, textWidth, title } from "./node.js";

/** Where this log's own part of an epoch ends: where a later one begins, or the log. */
export const ownEnd = (replica, e) =>
  (replica.epochs ?? []).find(([later]) => later > e)?.[1] ?? replica.leo;

/** The exchanges under way: {id, follower, leader, asked, answer: [epoch, end] | null}. */
export function exchanges(view) {
  return view.messages.flatMap((m) => {
    const f = m.fields ?? {};
    if (m.kind === "OffsetForLeaderEpoch" && !m.reply)
      return [{ id: m.id, follower: m.from, leader: m.to, asked: f.epoch, answer: null }];
    if (f.diverging)
      return [
        { id: m.id, follower: m.to, leader: m.from, asked: f.diverging[0], answer: f.diverging },
      ];
    if (m.reply && f.end >= 0)
      return [
        { id: m.id, follower: m.to, leader: m.from, asked: f.epoch, answer: [f.epoch, f.end] },
      ];
    return [];
  });
}

/** What an exchange tells of both logs: {end, rows: [name, epochs, words]}, the leader's first.
 *  `end` is where the asker is cut, null as long as nothing was answered. */
export function answered(x, mine, theirs, { t, name }) {
  const own = ownEnd(mine, (x.answer ?? [x.asked])[0]);
  const end = x.answer ? Math.min(x.answer[1], own) : null;
  /** @type {[string, [number, number][], string][]} */
  const rows = [
    [
      name(x.leader, true),
      theirs?.epochs ?? [],
      x.answer
        ? t("part.answer", { e: x.answer[0], o: x.answer[1] })
        : t("part.asked", { e: x.asked }),
    ],
    [
      name(x.follower, true),
      mine.epochs ?? [],
      end === null ? t("part.own", { e: x.asked, o: own }) : t("part.cut", { o: own, c: end }),
    ],
  ];
  return { end, rows };
}

/** Cuts to the own high watermark: nothing is asked, which is the lesson. */
export const blindCuts = (step) =>
  (step.cues ?? []).filter((cue) => cue.rule === "T-0").map((cue) => cue.node);

/** A line on the asker's log where it would be cut, and the two vectors one above the other. */
export function partings(geo, step, ctx) {
  if (!geo.d.labels) return [];
  const { replicas } = geo.part;
  const asked = exchanges(step.view).filter(
    (x) => geo.lanes.has(x.follower) && replicas[x.follower],
  );
  if (asked.length)
    return asked.map((x) => exchange(geo, x, replicas[x.follower], replicas[x.leader], ctx));
  return blindCuts(step)
    .filter((b) => replicas[b])
    .map((b) => {
      const words = ctx.t("part.blind", { b: ctx.name(b, true), o: replicas[b].hw });
      return sheet(geo, `blind-${b}`, b, textWidth(words, 12) + 22, 26, (x, y) => [
        text("w", x + 11, y + 17, words, "small ink"),
      ]);
    });
}

function exchange(geo, x, mine, theirs, ctx) {
  const { t } = ctx;
  const { end, rows } = answered(x, mine, theirs, ctx);
  const shown = vectors(geo, x, rows, ctx);
  if (end === null || end < geo.fold) return shown;
  const lane = geo.lanes.get(x.follower);
  const at = geo.x(Math.min(end, geo.end)) - 1.5;
  const label = t("mark.parts", { o: end });
  const wide = textWidth(label, 11.5, true) + 14;
  const left = Math.max(geo.logX, Math.min(at - wide - 4, geo.width - wide - 8));
  return {
    ...shown,
    c: [
      path("l", `M${at} ${lane.log + 3}L${at} ${lane.log + geo.d.lane - 8}`, "parting"),
      rect("lr", left, lane.log + 3, wide, 18, "partbox", { rx: 4 }),
      text("lt", left + 7, lane.log + 16, label, "parttext"),
      ...shown.c,
    ],
    a: { ...shown.a, "data-offset": end },
  };
}

const COLUMN = 44;

/** The two vectors, aligned by epoch, the asked one ringed, and what each says of its end. */
function vectors(geo, { id, follower, asked, answer }, rows, ctx) {
  const all = [...new Set(rows.flatMap(([, list]) => list.map(([e]) => e)))]
    .sort((a, b) => a - b)
    .slice(-5);
  const lead = Math.max(...rows.map(([who]) => textWidth(who, 12, true))) + 20;
  const tail = lead + all.length * COLUMN + 6;
  const width = Math.min(
    geo.width - 8,
    12 +
      Math.max(
        textWidth(ctx.t("part.title"), 12, true) + 10,
        ...rows.map(([, , words]) => tail + textWidth(words, 12)),
      ),
  );
  const ringed = answer?.[0] ?? asked;
  return sheet(geo, `part-${id}`, follower, width, 70, (x, y) => [
    text("title", x + 10, y + 18, ctx.t("part.title"), "strong small"),
    title("words", rows.map(([who, , words]) => `${who}: ${words}`).join(" ")),
    ...rows.flatMap(([who, list, words], i) => {
      const top = y + 25 + i * 21;
      return [
        text(`who${i}`, x + 10, top + 12, who, "strong small"),
        ...list
          .filter(([e]) => all.includes(e))
          .flatMap(([e, start]) => {
            const cx = x + lead + all.indexOf(e) * COLUMN;
            return [
              rect(
                `c${i}-${e}`,
                cx,
                top,
                COLUMN - 4,
                17,
                `chip ${epochClass(e)} ${e === ringed ? "asked" : ""}`,
                { rx: 3 },
              ),
              text(`t${i}-${e}`, cx + (COLUMN - 4) / 2, top + 12.5, `${e}→${start}`, "chiptext"),
            ];
          }),
        text(`w${i}`, x + tail, top + 12.5, fit(words, width - tail - 6, 12), "small ink"),
      ];
    }),
  ]);
}

/** A sheet at the foot of a lane, right of its high watermark where there is room. */
function sheet(geo, key, broker, width, height, inside) {
  const lane = geo.lanes.get(broker);
  const x = Math.max(
    4,
    Math.min(geo.x(Math.max(geo.part.replicas[broker].hw, geo.base)) + 10, geo.width - width - 8),
  );
  const y = Math.min(
    lane.log + Math.max(geo.d.memory - 3, geo.d.lane - height - 3),
    geo.height - height - 2,
  );
  return g(key, [rect("bg", x, y, width, height, "sheet", { rx: 8 }), ...inside(x, y)], {
    class: "part",
    "data-id": `part:${broker}`,
  });
}
