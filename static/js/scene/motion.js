// Motion is a mixture of two pictures: mix(a, b, 0) is a, mix(a, b, 1) is b.  First what travels
// travels (cause), then everything it changes changes at once (effect).  Nothing here keeps state.

import { along, between, clamp, enter, leave, round } from "./fates.js";

export const easeOut = (v) => 1 - (1 - v) ** 3;
const easeInOut = (v) => (v < 0.5 ? 4 * v ** 3 : 1 - (2 - 2 * v) ** 3 / 2);

/** Progress of the two phases at p.  Without a cause to be shown the effect starts sooner. */
export function phases(p, cause) {
  const split = cause ? 0.6 : 0.12;
  return { travel: easeInOut(clamp(p / split)), effect: easeOut(clamp((p - split) / (1 - split))) };
}

const flat = (nodes, out = []) => {
  for (const n of nodes) {
    out.push(n);
    if (n.c) flat(n.c, out);
  }
  return out;
};

/** Does anything leave between the pictures that has somewhere to go? */
export function travels(a, b) {
  const stays = new Set(
    flat(b)
      .filter((n) => n.m?.to)
      .map((n) => n.k),
  );
  return flat(a).some((n) => n.m?.to && !stays.has(n.k));
}

/** The picture at progress p between pictures a and b.  `fate(node)` says what becomes of one that
 *  leaves ("lost", "fall", "dissolve", "slip", or nothing: it fades); `cause` whether something
 *  is shown before all changes, when another layer knows better than this one.
 * @param {any[]} a
 * @param {any[]} b
 * @param {number} p
 * @param {{fate?: (node: any) => string | undefined, cause?: boolean}} [how] */
export function mix(a, b, p, { fate = () => undefined, cause = travels(a, b) } = {}) {
  if (p <= 0) return a;
  if (p >= 1) return b;
  return mixLists(a, b, { ...phases(p, cause), fate });
}

function mixLists(a, b, at) {
  const before = new Map(a.map((n) => [n.k, n]));
  const after = new Set(b.map((n) => n.k));
  const out = b.map((n) => (before.has(n.k) ? both(before.get(n.k), n, at) : enter(n, at)));
  // Those leaving are drawn where they were among the others, so that nothing jumps to the front.
  a.forEach((n, i) => {
    if (!after.has(n.k)) out.splice(Math.min(i, out.length), 0, ...leave(n, at));
  });
  return out;
}

function both(a, b, at) {
  if (a === b) return b;
  if (a.m?.at && b.m?.at) {
    const [x, y] = along(a.m.at, b.m.at, at.effect);
    return { ...b, a: { ...b.a, transform: `translate(${round(x)},${round(y)})` } };
  }
  const q = at.effect;
  const attrs = {};
  for (const [name, value] of Object.entries(b.a)) {
    const was = a.a[name];
    if (typeof value === "number" && typeof was === "number")
      attrs[name] = round(was + (value - was) * q);
    else if (name === "d" && was !== undefined) attrs[name] = between(was, value, q);
    else attrs[name] = q > 0.5 ? value : (was ?? value);
  }
  const text = q > 0.5 ? b.x : a.x;
  return { ...b, a: attrs, x: text, c: b.c && mixLists(a.c ?? [], b.c, at) };
}
