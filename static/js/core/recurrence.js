// Does what was asked about happen later in this run?  Views are compared, nothing is decided.
// Pure.

import { partIn } from "./partition.js";

const lengthOf = (replica) => replica?.hw ?? -1;

/** Has it happened in `then`, seen from `now`?  null: there is nothing to wait for. */
function happened(subject, now, then, p, number) {
  const [kind, who] = subject.split(" ");
  const a = partIn(now.view, p);
  const b = partIn(then.view, p);
  if (!a || !b) return false;
  if (kind === "hw") {
    const id = who === undefined ? a.record.leader : number(who);
    return lengthOf(b.replicas[id]) > lengthOf(a.replicas[id]);
  }
  if (kind === "isr")
    return a.record.isr.includes(number(who)) !== b.record.isr.includes(number(who));
  if (kind === "leader")
    return who === undefined
      ? b.record.leader >= 0 && b.record.le > a.record.le
      : (a.record.leader === number(who)) !== (b.record.leader === number(who));
  if (kind === "ack")
    return Object.values(b.replicas).some((r) =>
      r.records?.some((one) => one.id === who && one.acked),
    );
  return false;
}

/** The first later step, among those that are known, at which it has happened; null if there is
 *  none. */
export function later(on, n, subject, p, number) {
  const now = on.steps.get(n);
  if (!now || subject.startsWith("move ")) return null;
  const [plain] = subject.split(" p=");
  for (let at = n + 1; at <= on.facts.total; at += 1) {
    const step = on.steps.get(at);
    if (!step) return null;
    if (happened(plain, now, step, p, number)) return at;
  }
  return null;
}
