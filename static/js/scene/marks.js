// Marks on a log: end, high watermark and its water line, what the leader remembers of the others.

import { disk } from "./disk.js";
import { g, icon, line, pack, path, rect, text, textWidth, title } from "./node.js";

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

/** Thin lines from what the leader remembers to where the follower really is, where the two differ. */
export function joins(geo) {
  const { record, replicas } = geo.part;
  const lane = geo.lanes.get(record.leader);
  if (!geo.d.labels || geo.narrow || !lane) return [];
  return Object.entries(replicas[record.leader]?.remote ?? {}).flatMap(([id, m]) => {
    const other = geo.lanes.get(Number(id));
    const real = replicas[id];
    const known = m.leo ?? -1;
    if (!other || known < 0 || real?.role !== "follower" || real.leo === known || known < geo.fold)
      return [];
    const y1 = lane.log + geo.d.memory + 9;
    const y2 = other.log + geo.d.cell - 13;
    return [
      line(`join${id}`, geo.x(known) - 1.5, y1, geo.x(real.leo) - 1.5, y2, "join", {
        "data-id": `join:${record.leader}:${id}`,
      }),
    ];
  });
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

/** Under the leader's water line: how far it remembers each follower to be. */
function memory(geo, broker, replica, y, ctx) {
  if (!geo.d.labels) return [];
  const items = memories(replica).map(([leo, ids]) => {
    const known = leo >= 0;
    const point = known ? geo.x(Math.max(leo, geo.base)) - 1.5 : geo.left - 6;
    const tag = ids.map((id) => ctx.name(id, true)).join(ctx.t("list.comma")) + (known ? "" : " ?");
    return { ids, leo, known, tag, point, x: point - 5, width: textWidth(tag, 11.5, true) + 15 };
  });
  return pack(items, 3, geo.left - 12).map((item) => memoryTag(item, y, broker, ctx));
}

/** What the leader remembers: [end offset or -1, brokers], those at one place together. */
function memories(replica) {
  const at = new Map();
  for (const [id, memory] of Object.entries(replica.remote ?? {})) {
    const leo = memory.leo ?? -1;
    at.set(leo, [...(at.get(leo) ?? []), Number(id)]);
  }
  return [...at];
}

function memoryTag({ point, at, tag, known, leo, ids }, y, broker, { t, name }) {
  const who = ids.map((id) => name(id)).join(t("list.comma"));
  const key = ids.join("-");
  return g(
    `mem${key}`,
    [
      at > point - 4 &&
        path("join", `M${point + 4} ${y.memory + 5}L${at + 10} ${y.memory + 7}`, "memline"),
      path(
        "tri",
        `M${point - 5} ${y.memory + 9}L${point} ${y.memory}L${point + 5} ${y.memory + 9}z`,
        "memory",
      ),
      text("t", at + 12, y.memory + 11, tag, "memtext"),
      title(
        "title",
        known
          ? t("mark.memory", { l: name(broker.id), b: who, o: leo })
          : t("mark.memory_unknown", { l: name(broker.id), b: who }),
      ),
    ],
    { class: "remote", "data-id": `b${broker.id}:mem${key}`, "data-value": known ? leo : "" },
  );
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
