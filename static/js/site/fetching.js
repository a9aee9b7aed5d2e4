// Requests of a page without a server: what lies in the folder is read there, the rest is answered
// by the engine's worker, as the server's own handlers answer it.

import { fileOf, toServer } from "./addresses.js";

const bodyOf = async (body) => {
  if (body === undefined || body === null) return { body: null, type: "" };
  const read = new Response(body);
  const type = read.headers.get("Content-Type") ?? "";
  return { body: new Uint8Array(await read.arrayBuffer()), type };
};

/** What of `fetch` is answered for this site.
 * @returns {typeof fetch} */
export function fetching({ site, engine, frozen, textOf, plain }) {
  /** A frozen run answers for its steps and its text. */
  async function ofRun(path, query) {
    const asked = /^\/r\/([0-9a-f]{16})(\/steps)?\.json$/.exec(path);
    if (!asked || query.has("lens")) return null;
    const found = await frozen.run(asked[1]);
    if (!found) return null;
    if (!asked[2]) return new Response(found.text);
    const first = Number(query.get("from") ?? 0);
    const steps = found.steps.slice(first, first + Math.min(64, Number(query.get("count") ?? 32)));
    return Response.json({ ok: true, run: asked[1], first, total: found.facts.total, steps });
  }

  /** Runs that an address names are told to the engine before it is asked about them. */
  async function introduce(asked) {
    for (const digest of new Set(asked.match(/\b[0-9a-f]{16}\b/g) ?? [])) {
      if (engine.told.has(digest)) continue;
      const text = (await frozen.run(digest))?.text ?? (await textOf(digest));
      if (!text) continue;
      const request = JSON.stringify({ text, step: 0, ahead: 0 });
      await engine.ask("ask", { event: "open", request, lang: site.lang });
      engine.told.add(digest);
    }
  }

  /** Asks the pages of the engine. */
  async function fromEngine(path, options = {}) {
    await introduce(path);
    const { body, type } = await bodyOf(options.body);
    const said = new Headers(options.headers).get("Content-Type") ?? type;
    const method = options.method ?? "GET";
    const answer = await engine.ask("fetch", { method, path, body, type: said });
    // A page reads where it is sent on to: a browser's own response would hide that.
    const status = answer.status >= 300 && answer.status < 400 ? 200 : answer.status;
    return new Response(status === 204 ? null : answer.body, {
      status,
      headers: answer.headers,
    });
  }

  return async (input, options) => {
    const href = input instanceof Request ? input.url : String(input);
    const path = toServer(href, site);
    if (path === null) return plain(input, options);
    const url = new URL(path, site.root);
    const inFolder = href.startsWith(site.root) && /\.\w+$/.test(new URL(href).pathname);
    if (inFolder) return plain(input, options);
    const file = fileOf(path, site);
    if (file) return plain(file, options);
    const ready = options?.method === "POST" ? null : await ofRun(url.pathname, url.searchParams);
    if (ready) return ready;
    if (!url.searchParams.has("lang")) url.searchParams.set("lang", site.lang);
    return fromEngine(`${url.pathname}${url.search}`, options);
  };
}
