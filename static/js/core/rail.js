// Where on the rail a step stands: one step as wide as another, or spaced by the run's own time.
// Pure.

/** The time of a step, between the ticks that are known. */
export function timeOf(clock, n) {
  const at = upper(clock, n, 0);
  if (at <= 0) return clock[0]?.[1] ?? 0;
  if (at >= clock.length) return clock.at(-1)[1];
  const [[n0, t0], [n1, t1]] = [clock[at - 1], clock[at]];
  return t0 + ((t1 - t0) * (n - n0)) / Math.max(1, n1 - n0);
}

/** The last step at or before a time. */
export function stepAt(clock, time) {
  const at = upper(clock, time, 1);
  if (at <= 0) return 0;
  if (at >= clock.length) return clock.at(-1)[0];
  const [[n0, t0], [n1, t1]] = [clock[at - 1], clock[at]];
  return Math.min(n1, Math.floor(n0 + ((n1 - n0) * (time - t0)) / Math.max(1, t1 - t0)));
}

/** The index of the first tick beyond a value of its column. */
function upper(clock, value, column) {
  let [low, high] = [0, clock.length];
  while (low < high) {
    const mid = (low + high) >> 1;
    if (clock[mid][column] > value) high = mid;
    else low = mid + 1;
  }
  return low;
}

/** {max, of, step}: the rail's length, where step n is, and which step a place is. */
export function railSpace(facts, byTime) {
  const clock = facts.clock ?? [];
  const end = clock.at(-1)?.[1] ?? 0;
  if (!byTime || end <= 0) return { max: facts.total, of: (n) => n, step: (v) => v };
  return { max: end, of: (n) => Math.round(timeOf(clock, n)), step: (v) => stepAt(clock, v) };
}

const RANK = [
  "bookmark",
  "violation",
  "divergence",
  "leader",
  "truncation",
  "fault",
  "heal",
  "isr",
  "ack",
];
const rank = (kind) => RANK.indexOf(kind) + 1 || 99;

/** Marks [step, kind] that would cover each other stand as one, with a count; the gravest is its
 *  face. */
export function merged(marks, space, room = 60) {
  const out = [];
  for (const [n, kind] of [...marks].sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    const x = space.of(n) / Math.max(1, space.max);
    if (last && (x - last.x) * room < 1) {
      last.count += 1;
      if (rank(kind) < rank(last.kind)) {
        last.kind = kind;
        last.n = n;
      }
    } else out.push({ n, kind, count: 1, x });
  }
  return out;
}
export const HEIGHT = 26;

/** Steps of equal width up to the next one that was looked at: "x,y x,y ..." in percent and px. */
export function staircase(steps, place, end) {
  return steps.flatMap(({ step, share }, i) => {
    const y = (HEIGHT * (1 - share)).toFixed(1);
    const to = steps[i + 1]?.step ?? end;
    return [`${place(step)},${y}`, `${place(to)},${y}`];
  });
}
