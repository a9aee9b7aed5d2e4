// What a step changed, by name and with the values before and after.  Pure.

import { partIn, partOf } from "./partition.js";
import { valueText } from "./values.js";

/** [{ref, broker or client, field, was, now}] for a step and the one before it, on one
 *  partition.
 * @param {Step} before
 * @param {Step} step
 * @param {Iterable<string>} names */
export function changeList(before, step, names, partition = 0) {
  const parts = [before, step].map((one) => partOf(one.view, partition));
  return [...names].flatMap((key) => {
    const [id, field] = key.split(":");
    if (id === "rec")
      return [
        {
          ref: key,
          field,
          was: valueText(parts[0].record[field]),
          now: valueText(parts[1].record[field]),
        },
      ];
    if (!/^b-?\d+$/.test(id)) return [];
    const broker = Number(id.slice(1));
    if (field === "alive") {
      const [was, now] = [before, step].map(
        (one) => one.view.brokers.find((b) => b.id === broker)?.alive,
      );
      return [{ ref: id, broker, field, was: valueText(was), now: valueText(now) }];
    }
    // Membership is told once, by the controller's record.
    if (field === "isr") return [];
    return [
      {
        ref: key,
        broker,
        field,
        was: valueText(parts[0].replicas[broker]?.[field]),
        now: valueText(parts[1].replicas[broker]?.[field]),
      },
    ];
  });
}

/** The names of what differs between two views: "b2:hw", "b2:isr", "rec:isr", "client:P1";
 *  "p1/b2:hw" for the second partition.
 * @param {View} a
 * @param {View} b */
export function changes(a, b) {
  const out = new Set();
  b.partitions.forEach((part) => {
    const was = partIn(a, part.p);
    if (!was) return;
    const own = part.p ? `p${part.p}/` : "";
    for (const [id, r] of Object.entries(part.replicas)) {
      const old = was.replicas[id];
      if (!old) continue;
      for (const field of ["hw", "leo", "role"])
        if (old[field] !== r[field]) out.add(`${own}b${id}:${field}`);
      if (was.record.isr.includes(Number(id)) !== part.record.isr.includes(Number(id)))
        out.add(`${own}b${id}:isr`);
    }
    for (const key of Object.keys(part.record))
      if (String(was.record[key]) !== String(part.record[key])) out.add(`${own}rec:${key}`);
  });
  for (const c of b.clients) {
    const old = a.clients.find((one) => one.id === c.id);
    if (old && (old.sent !== c.sent || old.acked !== c.acked || old.position !== c.position))
      out.add(`client:${c.id}`);
  }
  b.brokers.forEach((broker) => {
    if (a.brokers.find((one) => one.id === broker.id)?.alive !== broker.alive)
      out.add(`b${broker.id}:alive`);
  });
  return out;
}

/** What ends and high watermarks were before they moved: {partition: {broker: {hw, leo}}}.
 * @param {View} a
 * @param {View} b */
export function earlier(a, b) {
  const out = {};
  b.partitions.forEach((part) => {
    for (const [id, r] of Object.entries(part.replicas)) {
      const old = partIn(a, part.p)?.replicas[id];
      if (old && (old.hw !== r.hw || old.leo !== r.leo))
        (out[part.p] ??= {})[id] = { hw: old.hw, leo: old.leo };
    }
  });
  return out;
}

/** What changed, as one partition's lanes name it. */
export function changedIn(changed, partition) {
  if (!changed || !partition) return changed ?? new Set();
  const own = `p${partition}/`;
  return new Set(
    [...changed]
      .filter((one) => one.startsWith(own) || /^(client:|b-?\d+:alive)/.test(one))
      .map((one) => (one.startsWith(own) ? one.slice(own.length) : one)),
  );
}
