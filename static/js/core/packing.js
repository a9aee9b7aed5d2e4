// A run in a link: "2.<length>.<data>", deflated with a checksum and written in the URL's alphabet.
// Version and length come first, so that what was lost on the way is named and never guessed.

async function pipe(bytes, stream) {
  const writer = stream.writable.getWriter();
  const done = [writer.write(bytes), writer.close()];
  done.forEach((one) =>
    one.catch(() => {
      /* the reader hears of it */
    }),
  );
  const out = await new Response(stream.readable).arrayBuffer();
  await Promise.all(done);
  return new Uint8Array(out);
}

/** Text to a packed string. */
export async function pack(text) {
  const bytes = await pipe(new TextEncoder().encode(text), new CompressionStream("deflate"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const data = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `2.${data.length}.${data}`;
}

/** Why a packed run cannot be read: a key of the catalogue and its arguments. */
export class Unreadable extends Error {
  constructor(key, args = {}) {
    super(key);
    this.key = key;
    this.args = args;
  }
}

const READS = { 1: "deflate-raw", 2: "deflate" };

/** {version, data, from}: the parts of a packed run, `from` being the place of the data, from 1. */
function parts(packed) {
  const head = /^(\d{1,6})\.(?:(\d{1,9})\.)?/.exec(packed);
  if (!head) throw new Unreadable("link.head", { found: packed.slice(0, 8) });
  const version = Number(head[1]);
  if (!(version in READS)) throw new Unreadable("link.version", { v: version });
  if (version > 1 && head[2] === undefined)
    throw new Unreadable("link.no_length", { at: head[0].length + 1 });
  const data = packed.slice(version > 1 ? head[0].length : 2);
  const from = packed.length - data.length + 1;
  const said = Number(head[2]);
  if (version > 1 && data.length < said)
    throw new Unreadable("link.short", { said, has: data.length, n: said - data.length });
  if (version > 1 && data.length > said)
    throw new Unreadable("link.long", { said, at: from + said, n: data.length - said });
  return { version, data, from };
}

/** The text of a packed string.  Throws `Unreadable`, which names what is wrong and where. */
export async function unpack(packed) {
  const { version, data, from } = parts(packed);
  const odd = data.search(/[^A-Za-z0-9_-]/);
  if (odd >= 0) throw new Unreadable("link.character", { c: data[odd], at: from + odd });
  try {
    const binary = atob(data.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(
      await pipe(bytes, new DecompressionStream(READS[version])),
    );
  } catch {
    throw new Unreadable("link.damaged", { a: from, b: from + data.length - 1 });
  }
}
