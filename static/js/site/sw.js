// The service worker: every file of one edition of the site, from the cache first.
// `highwaterFiles` comes from files.js beside it, whose bytes change with the edition.

/** The scope of a service worker, which is no window.
 * @type {any} */
const scope = self;
scope.importScripts("files.js");
const { edition, first, langs } = scope.highwaterFiles;
const NAME = `highwater-${edition}`;
const root = scope.registration.scope;

async function fill() {
  const cache = await caches.open(NAME);
  const fresh = (name) => new Request(new URL(name, root), { cache: "reload" });
  for (let i = 0; i < first.length; i += 8)
    await Promise.all(first.slice(i, i + 8).map((name) => cache.add(fresh(name))));
}

scope.addEventListener("install", (event) => event.waitUntil(fill()));

scope.addEventListener("message", ({ data }) => {
  if (data === "take") scope.skipWaiting();
});

scope.addEventListener("activate", (event) =>
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith("highwater-") && name !== NAME)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => scope.clients.claim()),
  ),
);

/** Where a page that is not kept can be rendered without a network. */
function rendered(url) {
  const [head, ...rest] = url.pathname.slice(new URL(root).pathname.length).split("/");
  const lang = langs.includes(head) ? `${head}/` : "";
  const path = lang ? rest.join("/") : [head, ...rest].join("/");
  const query = new URLSearchParams(url.search);
  const said = [`p=/${path.replace(/\/$/, "")}`, ...(query.size ? [query] : [])].join("&");
  return Response.redirect(`${root}${lang}at/?${said}`, 302);
}

async function answer(request) {
  const url = new URL(request.url);
  const cache = await caches.open(NAME);
  const page = request.mode === "navigate";
  const found = await cache.match(request, { ignoreSearch: page || url.search.startsWith("?v=") });
  if (found) return found;
  try {
    const response = await fetch(request);
    if (response.ok && response.type === "basic" && !response.redirected)
      cache.put(page ? url.origin + url.pathname : request, response.clone());
    return response;
  } catch (problem) {
    if (page) return rendered(url);
    throw problem;
  }
}

scope.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(root)) event.respondWith(answer(request));
});
