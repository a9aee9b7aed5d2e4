// Which colours a picture has, how often, and which of a palette stands for each.  Pure.

const SLOTS = 1 << 16;
const MOST = SLOTS / 2; // colours told apart; a picture with more is a photograph
// Fibonacci hashing: near colours land far apart.
const slotOf = (pixel) => Math.imul(pixel, 0x9e3779b1) >>> 16;

/** Counts pixels (0xbbggrr) without an object for each of them. */
export class Colours {
  constructor() {
    this.keys = new Int32Array(SLOTS);
    this.counts = new Int32Array(SLOTS);
    this.index = new Uint8Array(SLOTS);
    this.used = [];
  }

  clear() {
    for (const slot of this.used) {
      this.keys[slot] = 0;
      this.counts[slot] = 0;
    }
    this.used.length = 0;
  }

  /** Where a colour is kept; a new one gets the next free place. */
  slot(pixel) {
    const { keys, counts } = this;
    let at = slotOf(pixel);
    while (counts[at] && keys[at] !== pixel) at = (at + 1) & (SLOTS - 1);
    if (!counts[at]) {
      if (this.used.length >= MOST) return this.used[0];
      keys[at] = pixel;
      this.used.push(at);
    }
    return at;
  }

  add(pixel, times) {
    this.counts[this.slot(pixel)] += times;
  }

  /** The commonest `most` colours exactly as they are, so that no ground is tinted; the few others,
   *  which smooth the edges of letters, become the nearest of them.  Returns [[r, g, b]]. */
  palette(most, nearest) {
    const { keys, counts, index } = this;
    const order = this.used.slice().sort((a, b) => counts[b] - counts[a]);
    const parts = (slot) => {
      const pixel = keys[slot];
      return [pixel & 255, (pixel >> 8) & 255, pixel >> 16];
    };
    const chosen = order.slice(0, most).map(parts);
    order.forEach((slot, i) => {
      index[slot] = i < most ? i : nearest(chosen, parts(slot));
    });
    return chosen;
  }
}

/** The smallest box {x, y, w, h} outside of which two pictures of one width are the same; null when
 *  they are the same everywhere. */
export function changed(now, before, width) {
  const size = now.length;
  let first = 0;
  while (first < size && now[first] === before[first]) first += 1;
  if (first === size) return null;
  let last = size - 1;
  while (now[last] === before[last]) last -= 1;
  const top = Math.floor(first / width);
  const bottom = Math.floor(last / width);
  let left = width;
  let right = 0;
  for (let y = top; y <= bottom; y += 1) {
    const row = y * width;
    let x = 0;
    while (x < left && now[row + x] === before[row + x]) x += 1;
    left = x;
    x = width - 1;
    while (x > right && now[row + x] === before[row + x]) x -= 1;
    right = Math.max(right, x);
  }
  return { x: left, y: top, w: right - left + 1, h: bottom - top + 1 };
}
