// A run in a link: deflated and written in the URL's alphabet.

async function pipe(bytes, stream) {
  const writer = stream.writable.getWriter();
  const done = [writer.write(bytes), writer.close()];
  const out = await new Response(stream.readable).arrayBuffer();
  await Promise.all(done);
  return new Uint8Array(out);
}

/** Text to a packed string; "1." tells the format, so that a later one can differ. */
export async function pack(text) {
  const bytes = await pipe(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return "1." + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The text of a packed string; null when it cannot be read. */
export async function unpack(packed) {
  if (!packed.startsWith("1.")) return null;
  try {
    const binary = atob(packed.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(await pipe(Uint8Array.from(binary, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw")));
  } catch {
    return null;
  }
}
