// What the leader remembers of the others: how far it takes each follower to be.

import { g, line, pack, path, text, textWidth, title } from "./node.js";

/** Thin lines from what the leader remembers to where the follower really is, where the two
 *  differ. */
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

/** Under the leader's water line: how far it remembers each follower to be. */
export function memory(geo, broker, replica, y, ctx) {
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
