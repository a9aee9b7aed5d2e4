// Between two steps, cue by cue: a view that has of the coming step only what has been told.  Pure.

import { partIn } from "./partition.js";

const LOG = ["leo", "records", "runs", "cut", "epochs", "start", "fetch"];
/** Field a cue names -> fields of a replica that change with it. */
const OF_FIELD = {
  hw: ["hw", "blocks"],
  leo: LOG,
  log: LOG,
  cut: LOG,
  epoch: ["role", "belief", "epochs", "epochStart"],
  remote: ["remote", "blocks"],
  isr: ["isr", "maximal", "pending"],
  waiting: ["waiting"],
  flushed: ["flushed"],
};

/** The step to draw while cue `upto` of `after` is being told.
 * @param {Step} before
 * @param {Step} after
 * @param {number} upto */
export function partial(before, after, upto) {
  const view = structuredClone(before.view);
  for (const cue of after.cues.slice(0, upto + 1)) {
    const fields = OF_FIELD[String(cue.field ?? "").split(" ")[0]];
    const ofController = cue.node === "K" || cue.node === -1;
    view.partitions.forEach((part) => {
      if (cue.p !== null && cue.p !== part.p) return;
      const then = partIn(after.view, part.p);
      if (ofController) part.record = then?.record ?? part.record;
      const replica = part.replicas[cue.node];
      const next = then?.replicas[cue.node];
      if (!replica || !next || !fields) return;
      for (const field of fields) replica[field] = next[field];
    });
  }
  const delivered = new Set(after.view.messages.map((m) => m.id));
  view.messages = view.messages.filter((m) => delivered.has(m.id));
  return { ...after, view, broken: [], changed: new Set(), partial: upto };
}

/** Where one arrives in detail size: {n, cue}.  Steps with a single cue are one move as before. */
export function detailTarget(known, total, n, cue, dir) {
  const count = (at) => known(at)?.cues?.length ?? 0;
  if (dir > 0) {
    if (n >= total) return { n, cue: null };
    const next = cue === null ? 0 : cue + 1;
    return next < count(n + 1) - 1 ? { n, cue: next } : { n: n + 1, cue: null };
  }
  if (cue !== null) return cue > 0 ? { n, cue: cue - 1 } : { n, cue: null };
  if (n <= 0) return { n: 0, cue: null };
  const last = count(n) - 2;
  return last >= 0 ? { n: n - 1, cue: last } : { n: n - 1, cue: null };
}
