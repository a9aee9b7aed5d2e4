// A QR code (ISO/IEC 18004) of a link: byte mode, error correction level L.  Pure.

import { codewords, dataBytes, ECC } from "./qrwords.js";

const MOST = 1600; // characters; a denser code is more than a telephone reads off a screen

function blank(version) {
  const size = version * 4 + 17;
  const dark = Array.from({ length: size }, () => new Array(size).fill(0));
  const fixed = Array.from({ length: size }, () => new Array(size).fill(false));
  const set = (x, y, on) => {
    if (x >= 0 && y >= 0 && x < size && y < size) {
      dark[y][x] = on ? 1 : 0;
      fixed[y][x] = true;
    }
  };
  for (let i = 0; i < size; i += 1) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [cx, cy] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ]) {
    for (let dy = -4; dy <= 4; dy += 1)
      for (let dx = -4; dx <= 4; dx += 1) {
        const d = Math.max(Math.abs(dx), Math.abs(dy));
        set(cx + dx, cy + dy, d !== 2 && d !== 4);
      }
  }
  const spots = alignment(version, size);
  const last = spots.length - 1;
  spots.forEach((cx, i) =>
    spots.forEach((cy, j) => {
      if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
      for (let dy = -2; dy <= 2; dy += 1)
        for (let dx = -2; dx <= 2; dx += 1)
          set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
    }),
  );
  return { size, dark, fixed, set };
}

function alignment(version, size) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = version === 32 ? 26 : Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  const out = [];
  for (let at = size - 7; out.length < count - 1; at -= step) out.unshift(at);
  return [6, ...out];
}

function describe({ size, set }, version, mask) {
  let rest = (1 << 3) | mask;
  for (let i = 0; i < 10; i += 1) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  const bits = ((((1 << 3) | mask) << 10) | rest) ^ 0x5412;
  const bit = (i) => (bits >>> i) & 1;
  for (let i = 0; i <= 5; i += 1) set(8, i, bit(i));
  set(8, 7, bit(6));
  set(8, 8, bit(7));
  set(7, 8, bit(8));
  for (let i = 9; i < 15; i += 1) set(14 - i, 8, bit(i));
  for (let i = 0; i < 8; i += 1) set(size - 1 - i, 8, bit(i));
  for (let i = 8; i < 15; i += 1) set(8, size - 15 + i, bit(i));
  set(8, size - 8, 1);
  if (version < 7) return;
  let far = version;
  for (let i = 0; i < 12; i += 1) far = (far << 1) ^ ((far >>> 11) * 0x1f25);
  const own = (version << 12) | far;
  for (let i = 0; i < 18; i += 1) {
    const a = size - 11 + (i % 3);
    const b = Math.floor(i / 3);
    set(a, b, (own >>> i) & 1);
    set(b, a, (own >>> i) & 1);
  }
}

const MASKS = [
  (x, y) => (x + y) % 2,
  (x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

function place({ size, dark, fixed }, words, mask) {
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1)
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
        if (fixed[y][x]) continue;
        const on = at < words.length * 8 ? (words[at >>> 3] >>> (7 - (at & 7))) & 1 : 0;
        dark[y][x] = on ^ (MASKS[mask](x, y) === 0 ? 1 : 0);
        at += 1;
      }
  }
}

/** How hard a pattern is to read: long runs and solid squares. */
function penalty({ size, dark }) {
  let found = 0;
  for (let y = 0; y < size; y += 1)
    for (let x = 0, across = 0, down = 0; x < size; x += 1) {
      across = x && dark[y][x] === dark[y][x - 1] ? across + 1 : 1;
      down = x && dark[x][y] === dark[x - 1][y] ? down + 1 : 1;
      for (const run of [across, down])
        if (run === 5) found += 3;
        else if (run > 5) found += 1;
      if (
        x &&
        y &&
        dark[y][x] === dark[y][x - 1] &&
        dark[y][x] === dark[y - 1][x] &&
        dark[y][x] === dark[y - 1][x - 1]
      )
        found += 3;
    }
  return found;
}

/** The rows of modules (1 is dark) that say `text`; null when it is too long. */
export function modules(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = ECC.findIndex((_, v) => v > 0 && bytes.length + (v < 10 ? 2 : 3) <= dataBytes(v));
  if (version < 0 || bytes.length > MOST) return null;
  const words = codewords(bytes, version);
  const made = MASKS.map((_, mask) => {
    const one = blank(version);
    describe(one, version, mask);
    place(one, words, mask);
    return one;
  });
  return made.reduce((best, one) => (penalty(one) < penalty(best) ? one : best)).dark;
}
