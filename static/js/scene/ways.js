// The ways of messages from step to step, and which of them are asked for.  Pure.

const KINDS = {
  replication: /^(Fetch|OffsetForLeaderEpoch|ListOffsets)$/,
  clients: /^(Produce|Metadata)$/,
};
export const FILTERS = ["all", "replication", "control", "clients"];

/** Is a message of the kinds that were asked for?  What is neither replication nor clients is
 *  control. */
export function wantedKind(m, filter) {
  const client = [m.from, m.to].some((node) => /^[PC]\d/.test(String(node)));
  if (filter === "all") return true;
  if (filter === "clients") return client;
  const replication = !client && KINDS.replication.test(m.kind);
  return filter === "replication" ? replication : !client && !replication;
}

/** The ways of messages between these steps: {m, from: step or null, to: step or null, lost}. */
export function arrows(steps) {
  const open = new Map();
  const out = [];
  let seen = null;
  for (const step of steps) {
    const now = new Map(step.view.messages.map((m) => [m.id, m]));
    for (const [id, way] of open) {
      if (now.has(id)) continue;
      out.push({ ...way, to: step.n, lost: step.arrived !== id });
      open.delete(id);
    }
    for (const [id, m] of now) if (!open.has(id)) open.set(id, { m, from: seen ? step.n : null });
    seen = step;
  }
  for (const way of open.values()) out.push({ ...way, to: null, lost: false });
  return out;
}

/** Through a hidden node a message may have caused another: dashed from the first's sender to the
 *  second's receiver. */
export function transitive(ways, shown) {
  const hidden = (node) => !shown.has(String(node));
  const out = [];
  for (const later of ways.filter(
    (w) => w.from !== null && w.to !== null && !w.lost && hidden(w.m.from) && !hidden(w.m.to),
  )) {
    const cause = ways
      .filter(
        (w) =>
          w.to !== null &&
          !w.lost &&
          String(w.m.to) === String(later.m.from) &&
          w.to <= later.from &&
          !hidden(w.m.from),
      )
      .sort((a, b) => b.to - a.to)[0];
    if (cause && String(cause.m.from) !== String(later.m.to))
      out.push({
        a: cause.m.from,
        b: later.m.to,
        from: cause.from ?? cause.to,
        to: later.to,
        id: `${cause.m.id}-${later.m.id}`,
      });
  }
  return out;
}
