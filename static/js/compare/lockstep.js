// Two runs in lock-step: which pair is seen, and what differs there.  Pure: no DOM, no signals.

/** The entry of `parts` that holds at a pair: what differs there, [] before the first
 *  difference. */
export function differing(parts, at) {
  let found = [];
  for (const part of parts) {
    if (part.at > at) break;
    found = part.what;
  }
  return found;
}

/** The next pair at which something begins to differ otherwise, or -1. */
export const nextDifference = (parts, at) =>
  parts.find((part) => part.at > at && part.what.length)?.at ?? -1;

/** The first pair that differs at all, or -1. */
export const firstDifference = (parts) => nextDifference(parts, -1);

const TELLING = ["log", "hw", "leo", "leader", "le", "isr", "alive"];

/** Where a comparison opens: where logs first differ; else high watermarks, leaders, ISRs, then
 *  processes; -1 where nothing ever does. */
export function tellingDifference(parts) {
  for (const field of TELLING) {
    const found = parts.find((part) => part.what.some(([thing]) => thing.endsWith(`:${field}`)));
    if (found) return found.at;
  }
  return firstDifference(parts);
}

/** In how many places the two differed before a pair: changes of what differs, none named twice. */
export const differedBefore = (parts, at) =>
  new Set(parts.filter((part) => part.at < at).flatMap((part) => part.what.map(([thing]) => thing)))
    .size;

/** Which sides move from the pair before: {a, b}. */
export function moving(pairs, at) {
  if (at === 0) return { a: true, b: true };
  return { a: pairs[at][0] !== pairs[at - 1][0], b: pairs[at][1] !== pairs[at - 1][1] };
}

/** The elements of the stage that a differing thing is drawn by, in one partition. */
export function elements(thing, partition = 0) {
  const own = /^p(\d+)\//.exec(thing);
  if (Number(own?.[1] ?? 0) !== partition) return [];
  const id = thing.slice(own ? own[0].length : 0);
  if (id.endsWith(":log")) return [];
  if (id.endsWith(":role") || id.endsWith(":alive")) return [id.split(":")[0]];
  // The end of a log has no mark of its own on every stage: its broker stands for it.
  return id.endsWith(":leo") ? [id, id.split(":")[0]] : [id];
}

/** Offsets at which two logs, told as "0:a@0 1:b@1", hold different records. */
export function offsets(a, b) {
  const read = (text) =>
    new Map(
      (text ?? "")
        .split(" ")
        .filter(Boolean)
        .map((one) => [Number(one.split(":")[0]), one]),
    );
  const [left, right] = [read(a), read(b)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((o) => left.get(o) !== right.get(o))
    .sort((x, y) => x - y);
}
