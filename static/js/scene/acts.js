// What happens between two steps that a mixture of their pictures does not tell by itself: crashes,
// cuts, what gets lost.  Pure: a function of the two steps.

import { partIn } from "../core/partition.js";

/** {crashed, unplugged: brokers; cuts: broker -> offset; lost: message ids; cause: is something
 *  shown first}. */
export function acts(before, after, partition) {
  const [a, b] = [before, after].map((step) => partIn(step.view, partition));
  const found = {
    crashed: new Set(),
    unplugged: new Set(),
    cuts: new Map(),
    lost: lostIn(before, after),
    cause: false,
  };
  if (!a || !b) return found;
  const alive = new Map(before.view.brokers.map((one) => [one.id, one.alive]));
  for (const broker of after.view.brokers) {
    const [was, is] = [a.replicas[broker.id], b.replicas[broker.id]];
    const died = broker.alive === "down" && (alive.get(broker.id) ?? "down") !== "down";
    if (died) found.crashed.add(broker.id);
    if (!was || !is) continue;
    if (died && is.leo < was.leo) found.unplugged.add(broker.id);
    const at = died ? null : cutAt(was, is);
    if (at !== null) found.cuts.set(broker.id, at);
    if (was.role === "leader" && is.role !== "leader") found.cause = true;
  }
  found.cause ||= found.crashed.size > 0 || found.cuts.size > 0;
  return found;
}

/** Where a log was cut in this step, or null. */
function cutAt(was, is) {
  const fresh = (is.cut ?? []).filter((r) => !r.old && r.o < was.leo).map((r) => r.o);
  if (fresh.length && was.leo > Math.min(...fresh)) return Math.min(...fresh);
  return is.leo < was.leo ? is.leo : null;
}

/** Messages that left and did not arrive.  A leap over many steps knows it of a dropped one
 *  alone. */
function lostIn(before, after) {
  const there = new Set(after.view.messages.map((m) => m.id));
  const gone = before.view.messages.map((m) => m.id).filter((id) => !there.has(id));
  const next = Math.abs(after.n - before.n) <= 1 && after.arrived !== undefined;
  return new Set(
    gone.filter((id) => (next ? id !== after.arrived : /^drop\b/.test(after.move ?? ""))),
  );
}

/** What becomes of a node that leaves: "lost", "fall", "dissolve", "slip" or undefined. */
export function fates({ crashed, unplugged, cuts, lost }) {
  return (n) => {
    const id = String(n.a["data-id"] ?? "");
    if (/^m\d+$/.test(id)) return lost.has(Number(id.slice(1))) ? "lost" : undefined;
    const [, who, what, at] = /^b(-?\d+):([a-z]+)(\d*)/.exec(id) ?? [];
    const broker = Number(who);
    if (what === "o" && unplugged.has(broker)) return "dissolve";
    if (what === "o" && cuts.has(broker) && Number(at) >= cuts.get(broker)) return "fall";
    if (what === "e" && cuts.has(broker)) return "fall";
    return what !== "o" && what !== "e" && crashed.has(broker) ? "slip" : undefined;
  };
}
