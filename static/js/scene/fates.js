// How single nodes of a picture come and go.  Pure: a function of the node and of the two phases.

export const clamp = (v) => Math.min(1, Math.max(0, v));
export const round = (v) => Math.round(v * 100) / 100;
const FALL = 20; // px a record falls that is cut off
const LIFT = 14; // px a crown rises

const NUMBER = /-?\d+(?:\.\d+)?/g;

/** A path between two of the same shape; of different shape, first the one, then the other. */
export function between(a, b, q) {
  if (a === b) return b;
  if (a.replace(NUMBER, "#") !== b.replace(NUMBER, "#")) return q > 0.5 ? b : a;
  const from = a.match(NUMBER).map(Number);
  let i = 0;
  return b.replace(NUMBER, (to) => {
    const v = from[i] + (Number(to) - from[i]) * q;
    i += 1;
    return String(round(v));
  });
}

const moved = (n, x, y, opacity, more = {}) => ({
  ...n,
  a: { ...n.a, ...more, transform: `translate(${round(x)},${round(y)})`, opacity: round(opacity) },
});
const faded = (n, opacity) => ({ ...n, a: { ...n.a, opacity: round(opacity) } });

/** A node that was not there before: records grow, messages set out, crowns land, the rest
 *  appears. */
export function enter(n, at) {
  const q = at.effect;
  if (n.m?.from) return moved(n, ...along(n.m.from, n.m.at, q, n.m.bow), clamp(q * 3));
  if (n.m?.enter === "grow")
    return {
      ...n,
      a: {
        ...n.a,
        transform: `translate(${round(n.m.x * (1 - q))},0) scale(${round(Math.max(0.01, q))},1)`,
        opacity: round(clamp(q * 2)),
      },
    };
  if (n.m?.enter === "land") return moved(n, 0, -LIFT * (1 - q), q);
  return faded(n, q);
}

/** A node that is not there any more, as a list: what is lost leaves two halves. */
export function leave(n, at) {
  const fate = at.fate(n);
  if (n.m?.to) return fate === "lost" ? broken(n, at) : arriving(n, at);
  if (n.m?.exit === "lift") return [moved(n, 0, -LIFT * at.travel, 1 - at.travel)];
  if (fate === "fall") return [doomed(moved(n, 0, FALL * at.effect, 1 - at.effect))];
  if (fate === "slip") return [moved(n, 0, 2 * FALL * at.effect, 1 - at.effect)];
  if (fate === "dissolve") return [faded(n, 1 - clamp(at.effect * 1.1))];
  return [faded(n, 1 - clamp(at.effect * 1.6))];
}

/** Outlined before it falls, as long as it is there. */
const doomed = (n) => ({
  ...n,
  c: n.c?.map((one) =>
    one.k === "r" ? { ...one, a: { ...one.a, class: `${one.a.class} doomed` } } : one,
  ),
});

/** Travels, and dissolves into the card that it reaches. */
function arriving(n, at) {
  const [x, y] = along(n.m.at, n.m.to, at.travel);
  const left = 1 - clamp(at.effect * 1.6);
  if (left <= 0) return [];
  const whole = moved(n, x + 46 * (1 - left), y, left);
  return [
    left < 1
      ? {
          ...whole,
          a: { ...whole.a, transform: `${whole.a.transform} scale(${round(0.35 + 0.65 * left)})` },
        }
      : whole,
  ];
}

/** Half way the message breaks in two, and the halves fade. */
function broken(n, at) {
  const [x, y] = along(n.m.at, n.m.to, at.travel * 0.5);
  const q = at.effect;
  if (q <= 0) return [moved(n, x, y, 1)];
  /** @type {[string, number, string][]} */
  const halves = [
    ["left", -1, "inset(-9px 50% -9px -9px)"],
    ["right", 1, "inset(-9px -9px -9px 50%)"],
  ];
  return halves.map(([side, dir, clip]) => {
    const half = moved(n, x + dir * 9 * q, y + 16 * q, 1 - q, {
      class: `${n.a.class} lost`,
      style: `clip-path:${clip}`,
    });
    return {
      ...half,
      k: `${n.k}-${side}`,
      a: { ...half.a, transform: `${half.a.transform} rotate(${round(dir * 9 * q)})` },
    };
  });
}

/** A point of the way between two anchors, bowed to the left. */
export function along(from, to, f, bow = 0) {
  return [
    from[0] + (to[0] - from[0]) * f - bow * Math.sin(Math.PI * f),
    from[1] + (to[1] - from[1]) * f,
  ];
}
