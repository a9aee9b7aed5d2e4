// What may be drawn or left out: the layers of the stage, and how a link names a choice of them.
// Pure.

export const LAYERS = [
  "watermarks",
  "clients",
  "ghosts",
  "beliefs",
  "ends",
  "remote",
  "offsets",
  "epochs",
  "pipes",
  "controller",
  "disk",
  "sessions",
  "heartbeats",
];
/** What everybody sees; the rest is for experts. */
export const USUAL = new Set(["watermarks", "clients", "ghosts", "beliefs"]);

/** "disk,-ghosts": what differs from the usual set, in the order of the list; "" for the usual
 *  set. */
export function layersText(set) {
  return LAYERS.filter((one) => set.has(one) !== USUAL.has(one))
    .map((one) => (set.has(one) ? one : `-${one}`))
    .join(",");
}

/** The set a text speaks of; names it does not know are passed over. */
export function layersOf(text) {
  const set = new Set(USUAL);
  for (const word of String(text ?? "").split(",")) {
    const off = word.startsWith("-");
    const name = off ? word.slice(1) : word;
    if (!LAYERS.includes(name)) continue;
    if (off) set.delete(name);
    else set.add(name);
  }
  return set;
}

export const toggled = (set, name) =>
  new Set(LAYERS.filter((one) => (one === name ? !set.has(one) : set.has(one))));
