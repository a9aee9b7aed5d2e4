// The bytes of a QR code: the data, and the checks that let a reader mend it.  Pure.

export const ECC = [
  0, 7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30,
  26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
];
const BLOCKS = [
  0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14,
  15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25,
];

function rawModules(version) {
  let found = (16 * version + 128) * version + 64;
  if (version < 2) return found;
  const marks = Math.floor(version / 7) + 2;
  found -= (25 * marks - 10) * marks - 55;
  return version < 7 ? found : found - 36;
}

export const dataBytes = (version) =>
  Math.floor(rawModules(version) / 8) - ECC[version] * BLOCKS[version];

/** Multiplication in the field of 256 elements that the code's checks are made in. */
function times(a, b) {
  let z = 0;
  for (let i = 7; i >= 0; i -= 1) {
    z = (z << 1) ^ ((z >>> 7) * 0x11d);
    z ^= ((b >>> i) & 1) * a;
  }
  return z;
}

function divisor(degree) {
  const out = new Array(degree).fill(0);
  out[degree - 1] = 1;
  let root = 1;
  for (let i = 0; i < degree; i += 1) {
    for (let j = 0; j < degree; j += 1) out[j] = times(out[j], root) ^ (out[j + 1] ?? 0);
    root = times(root, 2);
  }
  return out;
}

function remainder(data, by) {
  const out = by.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ out.shift();
    out.push(0);
    by.forEach((one, i) => {
      out[i] ^= times(one, factor);
    });
  }
  return out;
}

export function codewords(bytes, version) {
  const room = dataBytes(version);
  const bits = [0, 1, 0, 0];
  const put = (value, width) => {
    for (let i = width - 1; i >= 0; i -= 1) bits.push((value >>> i) & 1);
  };
  put(bytes.length, version < 10 ? 8 : 16);
  bytes.forEach((byte) => put(byte, 8));
  put(0, Math.min(4, room * 8 - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  const data = [];
  for (let i = 0; i < bits.length; i += 8) data.push(parseInt(bits.slice(i, i + 8).join(""), 2));
  for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
  return interleaved(data, version);
}

function interleaved(data, version) {
  const count = BLOCKS[version];
  const all = Math.floor(rawModules(version) / 8);
  const shorts = count - (all % count);
  const shortLength = Math.floor(all / count) - ECC[version];
  const by = divisor(ECC[version]);
  const blocks = [];
  for (let i = 0, at = 0; i < count; i += 1) {
    const part = data.slice(at, at + shortLength + (i < shorts ? 0 : 1));
    at += part.length;
    blocks.push([part, remainder(part, by)]);
  }
  const out = [];
  for (const side of [0, 1])
    for (let i = 0; i <= Math.max(shortLength, ECC[version]); i += 1)
      for (const block of blocks) if (i < block[side].length) out.push(block[side][i]);
  return out;
}
