// The Web Worker of a static site: CPython as WebAssembly, with the engine in it.  It is sent
// {kind, id, …} and answers {id, answer, runs}; while it loads it tells its progress.

const SOURCES = "/highwater"; // folder of the unpacked sources, first on sys.path
const plain = self.fetch.bind(self);
let files = null;
let tabSession = null;
let pages = null;
let python = null;
let loaded = 0;
let told = 0;

/** Tells progress at most ten times a second. */
function count(bytes) {
  loaded += bytes;
  if (tabSession || performance.now() - told < 100) return;
  told = performance.now();
  postMessage({ kind: "progress", loaded, total: files.bytes });
}

/** A response whose bytes are counted as they come. */
function counted(response) {
  if (!response.body) return response;
  const counter = new TransformStream({
    transform(chunk, controller) {
      count(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), response);
}

async function got(url) {
  const response = await plain(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return counted(response);
}

/** The interpreter lies there compressed: not every host would do it. */
async function interpreter() {
  const packed = (await got(files.wasm)).body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(packed, { headers: { "Content-Type": "application/wasm" } });
}

self.fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  if (!files) return plain(input, init);
  if (url.endsWith("pyodide.asm.wasm")) return interpreter();
  return url.startsWith(files.pyodide) ? got(url) : plain(input, init);
};

const bytes = async (url) => new Uint8Array(await (await got(url)).arrayBuffer());

async function load() {
  const engine = bytes(files.engine);
  engine.catch(() => {
    /* heard of below */
  });
  const { loadPyodide } = await import(`${files.pyodide}pyodide.mjs`);
  python = await loadPyodide({ indexURL: files.pyodide });
  python.unpackArchive(await engine, "zip", { extractDir: SOURCES });
  python.runPython(`
import sys
sys.path.insert(0, "${SOURCES}")
import gc
gc.disable()  # nothing that is imported becomes garbage
from ${files.package}.tab_session import TabSession
tab_session = TabSession()
gc.freeze()
gc.enable()
`);
  tabSession = python.globals.get("tab_session");
}

/** The pages and the framework they are written in: 1 MB that questions about a run do without. */
async function loadPages() {
  python.unpackArchive(await bytes(files.pages), "zip", { extractDir: SOURCES });
  python.runPython(`from ${files.package} import tab
pages_of_tab = tab.build(tab_session)`);
  const fetched = python.globals.get("tab").fetch;
  const app = python.globals.get("pages_of_tab");
  return ({ method, path, body, type }) => {
    const answer = fetched(app, method, path, python.toPy(body ?? new Uint8Array()), type ?? "");
    const [status, headers, content] = answer.toJs();
    answer.destroy();
    return { status, headers, body: content };
  };
}

let ready = null;
const handlers = {
  warm: async () => {
    pages ??= loadPages();
    await pages;
    return null;
  },
  ask: ({ event, request, lang }) => JSON.parse(tabSession.ask(event, request, lang)),
  fetch: async (request) => {
    pages ??= loadPages();
    return (await pages)(request);
  },
};

/** One after another: Python answers one question at a time, in the order they were asked. */
let before = Promise.resolve();

self.onmessage = ({ data }) => {
  if (data.kind === "load") {
    files = data.files;
    ready = load().then(() => postMessage({ kind: "ready" }));
    ready.catch((problem) =>
      postMessage({ kind: "failed", key: "folder.failed", why: String(problem) }),
    );
    return;
  }
  before = before.then(async () => {
    try {
      await ready;
      const answer = await handlers[data.kind](data);
      const runs = tabSession.new_runs();
      postMessage({ id: data.id, answer, runs: runs ? JSON.parse(runs) : null });
    } catch (problem) {
      postMessage({ kind: "failed", why: String(problem) });
    }
  });
};
