// What a step changed, with the values before and after: what motion would have shown.  Pure.

import { partOf } from "./partition.js";

const shown = (v) =>
  Array.isArray(v) ? `[${v.join(", ")}]` : v === null || v === undefined ? "–" : String(v);

/** [{ref, broker or client, field, was, now}] for a step and the one before it, on one partition. */
export function changeList(before, step, names, partition = 0) {
  const parts = [before, step].map((one) => partOf(one.view, partition));
  return [...names].flatMap((key) => {
    const [id, field] = key.split(":");
    if (id === "rec")
      return [
        { ref: key, field, was: shown(parts[0].record[field]), now: shown(parts[1].record[field]) },
      ];
    if (!/^b-?\d+$/.test(id)) return [];
    const broker = Number(id.slice(1));
    if (field === "alive") {
      const [was, now] = [before, step].map(
        (one) => one.view.brokers.find((b) => b.id === broker)?.alive,
      );
      return [{ ref: id, broker, field, was: shown(was), now: shown(now) }];
    }
    // Membership is told once, by the controller's record.
    if (field === "isr") return [];
    return [
      {
        ref: key,
        broker,
        field,
        was: shown(parts[0].replicas[broker]?.[field]),
        now: shown(parts[1].replicas[broker]?.[field]),
      },
    ];
  });
}
