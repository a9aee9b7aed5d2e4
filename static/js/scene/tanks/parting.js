// "Up to where do the logs agree?" over tanks: two rows of tabs, and the cut in the tank that asks.

import { epochClass, fit, g, path, rect, text, textWidth, title } from "../node.js";

const COLUMN = 54;

/** One sheet for each exchange under way, or for a truncation without a request. */
export function partings(geo, step, places, ctx) {
  const { replicas } = geo.part;
  // A follower that asks twice is shown once.
  const asked = exchanges(step.view).filter(
    (x, i, all) =>
      geo.lanes.has(x.follower) &&
      replicas[x.follower] &&
      all.findIndex((one) => one.follower === x.follower) === i,
  );
  if (asked.length) return asked.map((x) => exchange(geo, x, places, ctx)).filter(Boolean);
  return blindCuts(step)
    .filter((b) => replicas[b])
    .map((b) => blind(geo, b, replicas[b], places, ctx))
    .filter(Boolean);
}

function blind(geo, broker, replica, places, { t, name }) {
  const { small } = geo.type;
  const whole = t("part.blind", { b: name(broker, true), o: replica.hw });
  const words = fit(whole, geo.width - 40, small);
  const w = textWidth(words, small) + 22;
  const at = places.find(geo.lanes.get(broker).mid - w / 2, w);
  return (
    at &&
    g(
      `blind-${broker}`,
      [
        rect("bg", at.x, at.y, w, 24, "sheet", { rx: 8 }),
        text("w", at.x + 11, at.y + 17, words, "small ink", { size: small }),
        ...cut(geo, broker, replica.hw),
      ],
      { class: "part", "data-id": `part:${broker}` },
    )
  );
}

/** A dashed line across the tank where its log would be cut. */
function cut(geo, broker, offset) {
  if (offset < geo.fold) return [];
  const lane = geo.lanes.get(broker);
  const y = geo.y(offset, lane);
  return [path("l", `M${lane.x - 6} ${y}H${lane.x + lane.w + 4}`, "parting")];
}

function exchange(geo, x, places, ctx) {
  const { t } = ctx;
  const { replicas } = geo.part;
  const [mine, theirs] = [replicas[x.follower], replicas[x.leader]];
  const { end, rows } = answered(x, mine, theirs, ctx);
  const all = [...new Set(rows.flatMap(([, list]) => list.map(([e]) => e)))]
    .sort((a, b) => a - b)
    .slice(-5);
  const { small } = geo.type;
  const lead = Math.max(...rows.map(([who]) => textWidth(who, small, true))) + 18;
  const tail = lead + all.length * COLUMN + 6;
  const room = Math.min(geo.width - 8, 440);
  const w = Math.min(
    room,
    12 +
      Math.max(
        textWidth(t("part.title"), small, true) + 10,
        ...rows.map(([, , s]) => tail + textWidth(s, small)),
      ),
  );
  const at = places.find(geo.lanes.get(x.follower).mid - w / 2, w, 2) ?? { x: 4, y: geo.heads.sky };
  const h = geo.narrow ? 52 : 68;
  const top = at.y + (geo.narrow ? 5 : 22);
  return g(
    `part-${x.id}`,
    [
      rect("bg", at.x, at.y, w, h, "sheet", { rx: 8 }),
      text("title", at.x + 10, at.y + 15, geo.narrow ? "" : t("part.title"), "strong small", {
        size: small,
      }),
      title("words", `${t("part.title")} ${rows.map(([who, , s]) => `${who}: ${s}`).join(" ")}`),
      ...rows.flatMap((row, i) =>
        tabsRow(row, i, {
          x: at.x,
          y: top + i * 21,
          all,
          lead,
          tail,
          w,
          small,
          ringed: x.answer?.[0] ?? x.asked,
        }),
      ),
      ...(end === null ? [] : cut(geo, x.follower, Math.min(end, geo.end))),
    ],
    {
      class: "part",
      "data-id": `part:${x.follower}`,
      ...(end === null ? {} : { "data-offset": end }),
    },
  );
}

function tabsRow([who, list, words], i, { x, y, all, lead, tail, w, small, ringed }) {
  const style = { style: `font-size:${small}px` };
  return [
    text(`who${i}`, x + 10, y + 13, who, "strong small", style),
    ...list
      .filter(([e]) => all.includes(e))
      .flatMap(([e, start]) => {
        const cx = x + lead + all.indexOf(e) * COLUMN;
        const cls = `chip ${epochClass(e)} ${e === ringed ? "asked" : ""}`;
        return [
          rect(`c${i}-${e}`, cx, y, COLUMN - 4, 17, cls, { rx: 3 }),
          text(
            `t${i}-${e}`,
            cx + (COLUMN - 4) / 2,
            y + 12.5,
            `e${e} · ${start}`,
            "chiptext",
            style,
          ),
        ];
      }),
    text(`w${i}`, x + tail, y + 12.5, fit(words, w - tail - 6, small), "small ink", style),
  ];
}

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
function answered(x, mine, theirs, { t, name }) {
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

/** Cuts to its own high watermark: nothing is asked, which is the lesson. */
const blindCuts = (step) =>
  (step.cues ?? []).filter((cue) => cue.rule === "T-0").map((cue) => cue.node);
