// One record in words: where it is, who has it, whether it counts.  The tooltip of its cell, and
// what is announced when the keyboard stands on it.  Pure.

const known = new WeakMap();

/** Who holds what: "offset/epoch/record" -> brokers.  Made once for a partition of a view. */
function holders(part) {
  if (known.has(part)) return known.get(part);
  const found = new Map();
  for (const [id, replica] of Object.entries(part.replicas)) {
    for (const r of replica.records) {
      if (r.o >= replica.leo) continue;
      const key = `${r.o}/${r.e}/${r.id}`;
      found.set(key, [...(found.get(key) ?? []), Number(id)]);
    }
  }
  known.set(part, found);
  return found;
}

/** The sentences of record `r` on a broker; `open`: at or above its high watermark. */
export function cellWords(part, broker, r, open, { t, name }) {
  const on = holders(part).get(`${r.o}/${r.e}/${r.id}`) ?? [broker];
  return [
    t(open ? "cell.open" : "cell.committed", { o: r.o, e: r.e, m: r.id ?? "", b: name(broker) }),
    on.length > 1
      ? t("cell.on", { b: on.map((id) => name(id)).join(t("list.comma")) })
      : t("cell.only", { b: name(broker) }),
    t(r.acked ? "cell.acked" : "cell.unacked"),
    r.read && t("cell.read"),
  ]
    .filter(Boolean)
    .join(" ");
}
