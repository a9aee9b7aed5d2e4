// Marks on a log: end, high watermark and its water line, what the leader remembers of the others.

import { disk } from "./disk.js";
import { memory } from "./memory.js";
import { g, icon, line, path, rect, text, textWidth, title } from "./node.js";

/** All marks of one replica, keyed by what they mean. */
export function marks(geo, broker, ctx) {
  const replica = geo.part.replicas[broker.id];
  if (!replica) return [];
  const lane = geo.lanes.get(broker.id);
  const y = {
    cell: lane.log + geo.d.cell,
    water: lane.log + geo.d.water,
    memory: lane.log + geo.d.memory,
    foot: lane.log + geo.d.marks,
    bottom: lane.log + geo.d.cell + geo.d.cellH,
  };
  const shown = ctx.layers.has("watermarks");
  return [
    ...(shown ? water(geo, broker, replica, y) : []),
    ...(shown ? leadersMark(geo, broker, replica, y, ctx) : []),
    ...end(geo, broker, replica, y, ctx),
    ...(shown ? trail(geo, broker, replica, y, ctx) : []),
    ...(shown ? mark(geo, broker, replica, y, ctx) : []),
    ...(shown ? memory(geo, broker, replica, y, ctx) : []),
    ...(ctx.layers.has("disk")
      ? disk(geo, broker, replica, y, ctx)
      : shown
        ? from(geo, broker, replica, y, ctx)
        : []),
  ];
}

function water(geo, broker, replica, y) {
  const x0 = geo.x(Math.max(replica.start ?? 0, geo.base));
  return [
    rect(
      "water",
      x0,
      y.water,
      geo.x(replica.hw) - x0 - 2,
      geo.density === "dense" ? 2 : 5,
      "water",
      { rx: 1 },
    ),
  ];
}

/** A high watermark that went back leaves a trail for the step in which it did. */
function trail(geo, broker, replica, y, { was, t }) {
  const old = was[broker.id]?.hw;
  if (old === undefined || old <= replica.hw) return [];
  const [a, b] = [geo.x(Math.max(replica.hw, geo.base)), geo.x(Math.min(old, geo.end))];
  return [
    g(
      "trail",
      [
        line("l", a, y.water + 2.5, b - 2, y.water + 2.5, "trail"),
        path("h", `M${a + 7} ${y.water - 2}l-6 4.500l6 4.500`, "trailhead"),
        title("title", t("mark.hw_back", { a: old, b: replica.hw })),
      ],
      { "data-id": `b${broker.id}:trail`, "data-value": old },
    ),
  ];
}

function leadersMark(geo, broker, replica, y, { t }) {
  const leader = geo.part.replicas[geo.part.record.leader];
  if (!leader || replica === leader || leader.hw === replica.hw || geo.density === "dense")
    return [];
  const x = geo.x(leader.hw) - 1.5;
  return [
    g(
      "theirs",
      [
        line("l", x, y.cell - 4, x, y.water + 5, "hwtheirs"),
        title("title", t("mark.leaders_hw", { o: leader.hw })),
      ],
      { "data-id": `b${broker.id}:leaderhw`, "data-value": leader.hw },
    ),
  ];
}

function end(geo, broker, replica, y, { t, changed, was }) {
  const x = geo.x(replica.leo) - 1.5;
  const data = { class: "leo", "data-id": `b${broker.id}:leo`, "data-value": replica.leo };
  if (!geo.d.labels)
    return [g("leo", [line("l", x, y.cell - 3, x, y.bottom + 2, "leoline")], data)];
  const label = `LEO ${replica.leo}`;
  // A log that ends sooner on a broker that just went down: what was in memory only is gone.
  const gone =
    broker.alive === "down" && changed.has(`b${broker.id}:alive`)
      ? (was[broker.id]?.leo ?? 0) - replica.leo
      : 0;
  return [
    g(
      "leo",
      [
        path(
          "l",
          `M${x} ${y.bottom + 3}L${x} ${y.cell - 13}L${x + 7} ${y.cell - 13}`,
          "leoline",
          {},
        ),
        text("t", x + 10, y.cell - 8, label, "mono mark", {}),
        gone > 0 &&
          text(
            "gone",
            x + 20 + textWidth(label, 12),
            y.cell - 8,
            t("mark.unflushed", { n: gone }),
            "small bad",
            { "data-id": `b${broker.id}:unflushed`, "data-value": gone },
          ),
        changed.has(`b${broker.id}:leo`) &&
          line("chg", x + 10, y.cell - 4, x + 10 + textWidth(label, 12), y.cell - 4, "changed"),
        title("title", t("mark.leo", { o: replica.leo })),
      ],
      data,
    ),
  ];
}

/** The high watermark's bar and name; an hourglass where it waits for somebody. */
function mark(geo, broker, replica, y, { t, changed, name }) {
  const x = geo.x(replica.hw) - 1.5;
  const data = { class: "hw", "data-id": `b${broker.id}:hw`, "data-value": replica.hw };
  const bar = line("bar", x, y.cell - 5, x, geo.d.labels ? y.foot + 4 : y.water + 5, "hwbar");
  if (!geo.d.labels) return [g("hw", [bar], data)];
  const waits = (replica.blocks ?? []).length > 0;
  const label = `HW ${replica.hw}`;
  const w = textWidth(label, 11.5, true) + 14 + (waits ? 15 : 0);
  // A broker that starts takes its mark from the checkpoint: not known again yet, so hollow.
  const starts = broker.alive === "starting" ? "hollow" : "";
  const at = Math.max(geo.left - 8, x - w + 1.5);
  return [
    g(
      "hw",
      [
        bar,
        rect("r", at, y.foot, w, 18, `hwpill ${starts}`, { rx: 4 }),
        waits && icon("i", "hourglass", at + 5, y.foot + 3, 12, "onhw"),
        text("t", at + 7 + (waits ? 15 : 0), y.foot + 13, label, `hwtext ${starts}`),
        starts &&
          text(
            "from",
            at + w + 7,
            y.foot + 13,
            t("mark.from_checkpoint", { o: replica.hwCheckpoint ?? 0 }),
            "small",
            { "data-id": `b${broker.id}:from`, "data-value": replica.hwCheckpoint ?? 0 },
          ),
        changed.has(`b${broker.id}:hw`) &&
          line("chg", at, y.foot + 21, at + w, y.foot + 21, "changed"),
        title(
          "title",
          t("mark.hw", { o: replica.hw }) +
            (waits
              ? " " +
                t("mark.hw_waits", { b: replica.blocks.map((b) => name(b)).join(t("list.comma")) })
              : ""),
        ),
      ],
      data,
    ),
  ];
}

/** The checkpoint a restart would begin from, once it lags behind the mark. */
function from(geo, broker, replica, y, { t }) {
  const cp = replica.hwCheckpoint;
  if (!geo.d.labels || cp === undefined || cp === null || cp >= replica.hw || cp < geo.fold)
    return [];
  const x = geo.x(cp) - 1.5;
  return [
    g(
      "cp",
      [
        path("l", `M${x} ${y.water - 2}v9`, "checkpoint"),
        title("title", t("mark.checkpoint", { o: cp })),
      ],
      { "data-id": `b${broker.id}:cp`, "data-value": cp },
    ),
  ];
}
