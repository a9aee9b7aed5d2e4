// Motion is a mixture of two pictures: mix(a, b, 0) is a, mix(a, b, 1) is b.  First what travels
// travels (cause), then everything it changes changes at once (effect).  Nothing here keeps state.

const clamp = (v) => Math.min(1, Math.max(0, v));
export const easeOut = (v) => 1 - (1 - v) ** 3;
export const easeInOut = (v) => (v < 0.5 ? 4 * v ** 3 : 1 - (2 - 2 * v) ** 3 / 2);

/** A point of the way between two anchors, bowed to the left of the gutter. */
export function along(from, to, f, bow = 0) {
  return [from[0] + (to[0] - from[0]) * f - bow * Math.sin(Math.PI * f), from[1] + (to[1] - from[1]) * f];
}

/** Progress of the two phases at p.  Without travellers the effect starts sooner. */
export function phases(p, travels) {
  const split = travels ? 0.6 : 0.12;
  return { travel: easeInOut(clamp(p / split)), effect: easeOut(clamp((p - split) / (1 - split))) };
}

const flat = (nodes, out = []) => { for (const n of nodes) { out.push(n); if (n.c) flat(n.c, out); } return out; };

/** Does anything leave between the pictures that has somewhere to go? */
export function travels(a, b) {
  const stays = new Set(flat(b).filter((n) => n.m?.to).map((n) => n.k));
  return flat(a).some((n) => n.m?.to && !stays.has(n.k));
}

/** The picture at progress p between pictures a and b.  `dropped(key)` tells which travellers get
 *  lost; `cause` says whether something travels, when another layer knows better than this one. */
export function mix(a, b, p, { dropped = () => false, cause = travels(a, b) } = {}) {
  if (p <= 0) return a;
  if (p >= 1) return b;
  return mixLists(a, b, { ...phases(p, cause), dropped });
}

function mixLists(a, b, at) {
  const before = new Map(a.map((n) => [n.k, n]));
  const after = new Set(b.map((n) => n.k));
  const out = b.map((n) => (before.has(n.k) ? both(before.get(n.k), n, at) : enter(n, at)));
  // Those leaving are drawn where they were among the others, so that nothing jumps to the front.
  a.forEach((n, i) => {
    if (after.has(n.k)) return;
    const left = leave(n, at);
    if (left) out.splice(Math.min(i, out.length), 0, left);
  });
  return out;
}

function both(a, b, at) {
  if (a.m?.at && b.m?.at) {
    const [x, y] = along(a.m.at, b.m.at, at.effect);
    return { ...b, a: { ...b.a, transform: `translate(${round(x)},${round(y)})` } };
  }
  const q = at.effect;
  const attrs = {};
  for (const [name, value] of Object.entries(b.a)) {
    const was = a.a[name];
    if (typeof value === "number" && typeof was === "number") attrs[name] = round(was + (value - was) * q);
    else if (name === "d" && was !== undefined) attrs[name] = between(was, value, q);
    else attrs[name] = q > 0.5 ? value : (was ?? value);
  }
  const text = q > 0.5 ? b.x : a.x;
  return { ...b, a: attrs, x: text, c: b.c && mixLists(a.c ?? [], b.c, at) };
}

const NUMBER = /-?\d+(?:\.\d+)?/g;

/** A path between two of the same shape; of different shape, first the one, then the other. */
export function between(a, b, q) {
  if (a === b) return b;
  if (a.replace(NUMBER, "#") !== b.replace(NUMBER, "#")) return q > 0.5 ? b : a;
  const from = a.match(NUMBER).map(Number);
  let i = 0;
  return b.replace(NUMBER, (to) => { const v = from[i] + (Number(to) - from[i]) * q; i += 1; return String(round(v)); });
}

function enter(n, at) {
  const q = at.effect;
  if (n.m?.from) {
    const [x, y] = along(n.m.from, n.m.at, q, n.m.bow);
    return { ...n, a: { ...n.a, transform: `translate(${round(x)},${round(y)})`, opacity: round(clamp(q * 3)) } };
  }
  if (n.m?.enter === "grow") return { ...n, a: { ...n.a, transform: growth(n.m.cx, n.m.cy, q), opacity: round(clamp(q * 2)) } };
  return { ...n, a: { ...n.a, opacity: round(q) } };
}

function leave(n, at) {
  if (n.m?.to) {
    const lost = at.dropped(n.k);
    const [x, y] = along(n.m.at, n.m.to, at.travel * (lost ? 0.5 : 1));
    const opacity = at.travel < 1 ? 1 : round(1 - clamp(at.effect * 2.5));
    const cls = lost && at.travel >= 1 ? `${n.a.class} lost` : n.a.class;
    return opacity > 0 ? { ...n, a: { ...n.a, class: cls, transform: `translate(${round(x)},${round(y)})`, opacity } } : null;
  }
  if (n.m?.exit === "fall") return { ...n, a: { ...n.a, transform: `translate(0,${round(20 * at.effect)})`, opacity: round(1 - at.effect) } };
  return { ...n, a: { ...n.a, opacity: round(1 - clamp(at.effect * 1.6)) } };
}

const growth = (cx, cy, q) => `translate(${round(cx * (1 - q))},${round(cy * (1 - q))}) scale(${round(Math.max(0.01, q))})`;
const round = (v) => Math.round(v * 100) / 100;
