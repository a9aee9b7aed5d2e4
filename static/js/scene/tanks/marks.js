// Marks on a tank: where the water stands, and for experts where the log ends and what the leader
// remembers.  Pure.

import { g, icon, line, path, rect, text, textWidth, title } from "../node.js";
import { fitted } from "./place.js";
import { left } from "./wall.js";

/** All marks of one replica, keyed by what they mean. */
export function marks(geo, lane, broker, replica, ctx) {
  const { layers } = ctx;
  const on = (name, ...drawn) =>
    layers.has(name) ? drawn.flatMap((one) => one(geo, lane, broker, replica, ctx)) : [];
  return [
    ...on("remote", theirs),
    ...on("ends", drift, end),
    ...on("watermarks", trail, mark),
    ...left(geo, lane, broker, replica, ctx),
    ...on("disk", disk),
  ];
}

/** The leader's level, dotted across a follower's tank: the difference is what it has not heard. */
function theirs(geo, lane, broker, replica, { t }) {
  const leader = geo.part.replicas[geo.part.record.leader];
  if (!leader || replica === leader || leader.hw === replica.hw) return [];
  const y = geo.y(leader.hw, lane);
  return [
    g(
      "theirs",
      [
        line("l", lane.x + 2, y, lane.x + lane.w - 2, y, "hwtheirs"),
        title("title", t("mark.leaders_hw", { o: leader.hw })),
      ],
      { "data-id": `b${broker.id}:leaderhw`, "data-value": leader.hw },
    ),
  ];
}

/** At the bottom of a tank a mark stands above its level. */
const atFloor = (lane, y) => y + 20 > lane.floor;

/** Room for words at the right of a tank, in px. */
const beside = (geo, lane) => Math.min(lane.left + geo.col, geo.width) - lane.x - lane.w - 7;

/** "HW 2", or where there is no room for the word its number alone. */
function labelled(geo, lane, word, value, lead = 0) {
  const { mark: most, small } = geo.type;
  const room = beside(geo, lane) - lead;
  return fitted([`${word} ${value}`, String(value)], room, most, small);
}

/** A bracket over the stack, with its number. */
function end(geo, lane, broker, replica, { t, changed, was }) {
  const y = geo.y(replica.leo, lane) - 1;
  const data = { class: "leo", "data-id": `b${broker.id}:leo`, "data-value": replica.leo };
  const [a, b] = [lane.x + geo.gap.pad - 2, lane.x + lane.w];
  const gone =
    broker.alive === "down" && changed.has(`b${broker.id}:alive`)
      ? (was[broker.id]?.leo ?? 0) - replica.leo
      : 0;
  const [label, size] = labelled(geo, lane, "LEO", replica.leo);
  const x = Math.min(b + 5, geo.width - textWidth(label, size));
  const low = geo.y(Math.max(replica.hw, geo.base), lane);
  const up = atFloor(lane, low) && y > low - 23 ? 27 : 4;
  const hooks = `M${a} ${y + 6}V${y}h9M${b - geo.gap.pad + 2} ${y + 6}V${y}h-9`;
  return [
    g(
      "leo",
      [
        path("l", `${hooks}M${b} ${y}h${geo.narrow ? 4 : 14}`, "leoline"),
        text("t", x, y - up, label, "mark", { "font-size": size }),
        gone > 0 &&
          text("gone", x, y - up - 16, t("mark.unflushed", { n: gone }), "small bad", {
            "data-id": `b${broker.id}:unflushed`,
            "data-value": gone,
            size: geo.type.small,
            "text-anchor": x + 100 > geo.width ? "end" : "start",
          }),
        changed.has(`b${broker.id}:leo`) &&
          line("chg", x, y - 1, x + textWidth(label, size), y - 1, "changed"),
        title("title", t("mark.leo", { o: replica.leo })),
      ],
      data,
    ),
  ];
}

/** Where the log ended before this step, and the way to where it ends now: in the gap between
 *  records and wall, where nothing else stands. */
function drift(geo, lane, broker, replica, { was, t }) {
  const old = was[broker.id]?.leo;
  if (old === undefined || old === replica.leo) return [];
  const [from, to] = [geo.y(old, lane) - 1, geo.y(replica.leo, lane) - 1];
  const x = lane.x + lane.w - geo.gap.pad / 2;
  return [
    g(
      "drift",
      [
        path("l", `M${x - 5} ${from}H${x}V${to}`, `leotrail ${old > replica.leo ? "back" : ""}`),
        title("title", t("mark.leo_was", { a: old, b: replica.leo })),
      ],
      { "data-id": `b${broker.id}:leowas`, "data-value": old },
    ),
  ];
}

/** A high watermark that went back leaves a trail for the step in which it did. */
function trail(geo, lane, broker, replica, { was, t }) {
  const old = was[broker.id]?.hw;
  if (old === undefined || old === replica.hw) return [];
  const [from, to] = [geo.y(old, lane), geo.y(replica.hw, lane)];
  const back = old > replica.hw;
  const x = lane.x + lane.w + 2.5;
  return [
    g(
      "trail",
      [
        line("l", x, from, x, to + (back ? -4 : 4), back ? "trail" : "trail up"),
        path(
          "h",
          `M${x - 4} ${to + (back ? -7 : 7)}L${x} ${to}L${x + 4} ${to + (back ? -7 : 7)}`,
          back ? "trailhead" : "trailhead up",
        ),
        title("title", t(back ? "mark.hw_back" : "scene.hw_up", { a: old, b: replica.hw })),
      ],
      back ? { "data-id": `b${broker.id}:trail`, "data-value": old } : {},
    ),
  ];
}

/** The flag at the water; an hourglass where it waits for a follower and there is room. */
function mark(geo, lane, broker, replica, { t, changed, name }) {
  const y = geo.y(Math.max(replica.hw, geo.base), lane);
  const data = { class: "hw", "data-id": `b${broker.id}:hw`, "data-value": replica.hw };
  const spare = beside(geo, lane) - textWidth(replica.hw, geo.type.small, true);
  const waits = (replica.blocks ?? []).length > 0 && spare >= 14;
  const lead = waits ? 14 : 0;
  const [label, size] = labelled(geo, lane, "HW", replica.hw, lead);
  const w = textWidth(label, size, true) + 1 + lead;
  const starts = broker.alive === "starting" ? "hollow" : "";
  const x = Math.min(lane.x + lane.w + 5, geo.width - w);
  const top = atFloor(lane, y) ? y - 24 : y - 9;
  const words = [
    t("mark.hw", { o: replica.hw }),
    waits && t("mark.hw_waits", { b: replica.blocks.map((b) => name(b)).join(t("list.comma")) }),
    starts && t("mark.from_checkpoint", { o: replica.hwCheckpoint ?? 0 }),
  ];
  return [
    g(
      "hw",
      [
        line("bar", lane.x + 2, y, x, y, "hwbar thin"),
        rect("r", x, top, w, 20, `hwpill ${starts}`, { rx: 4 }),
        waits && icon("i", "hourglass", x - 1, top + 3, 13, "onhw"),
        text("t", x + lead, top + 15, label, `hwtext ${starts}`, { size }),
        changed.has(`b${broker.id}:hw`) && line("chg", x, top + 22, x + w, top + 22, "changed"),
        title("title", words.filter(Boolean).join(" ")),
      ],
      data,
    ),
  ];
}

/** Notches on the wall: flushed, the checkpoint of the high watermark, the recovery point. */
function disk(geo, lane, broker, replica, { t }) {
  const notch = (key, offset, words) => {
    if (offset === undefined || offset === null) return null;
    const y = geo.y(Math.max(offset, geo.base), lane);
    return g(
      key,
      [
        path("l", `M${lane.x + lane.w - 1} ${y}h-9`, `tick ${key}`),
        rect("r", lane.x + lane.w - 12, y - 6, 12, 12, "touch"),
        title("title", words),
      ],
      { "data-id": `b${broker.id}:${key}`, "data-value": offset },
    );
  };
  const flushed = Math.min(replica.flushed ?? 0, replica.leo);
  const words = t("disk.words", {
    f: flushed,
    c: replica.hwCheckpoint ?? 0,
    r: replica.recovery ?? 0,
  });
  const y = geo.y(Math.max(flushed, geo.base), lane);
  return [
    g(
      "disk",
      [
        line("on", lane.x + 3.5, lane.floor - 4, lane.x + 3.5, y, "ondisk"),
        notch("cp", replica.hwCheckpoint, t("disk.cp.why", { o: replica.hwCheckpoint })),
        notch("rp", replica.recovery, t("disk.rp.why", { o: replica.recovery })),
        title("title", words),
      ],
      { class: "disk", "data-id": `b${broker.id}:disk`, "data-value": flushed },
    ),
  ];
}
