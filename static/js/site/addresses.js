// Addresses of a static site: from a server's path to a file of the folder, and back.  Pure.

/** @typedef {{root: string, lang: string, langs: string[], pages: Set<string>,
 *   answers: Set<string>, any: string[], codes: Record<string, string>, needs: string[]}} Site */

const split = (path) => {
  const url = new URL(path, "http://x");
  return { path: url.pathname.replace(/(.)\/$/, "$1"), query: url.searchParams, hash: url.hash };
};

/** Path and query that a server would know an address by; null for another origin.  Addresses of
 *  this site end with a slash; one that does not is a server's already, as scripts write it.
 * @param {string} href @param {Site} site */
export function toServer(href, { root, langs, lang }) {
  const here = new URL(root);
  const url = new URL(href, here);
  if (url.origin !== here.origin) return null;
  const query = new URLSearchParams(url.search);
  let path = url.pathname;
  if (path.startsWith(here.pathname) && path.endsWith("/")) {
    path = `/${path.slice(here.pathname.length)}`.replace(/(.)\/$/, "$1");
    const [, first, ...rest] = path.split("/");
    const own = langs.includes(first);
    if (own) path = `/${rest.join("/")}`;
    if (!query.has("lang")) query.set("lang", own ? first : langs[0]);
    if (path === "/at" && query.has("p")) {
      path = query.get("p");
      query.delete("p");
    } else if ((path === "/r" || path === "/e") && query.has("run")) {
      path += `/${query.get("run")}`;
      query.delete("run");
    }
  } else {
    if (here.pathname !== "/" && path.startsWith(here.pathname))
      path = path.slice(here.pathname.length - 1);
    if (!query.has("lang")) query.set("lang", lang);
  }
  return `${path}?${query}${url.hash}`;
}

/** @type {[RegExp, (found: RegExpExecArray, query: URLSearchParams) => string][]} */
const files = [
  [
    /^\/i18n\/([\w-]+)\.json$/,
    (m, q) => `i18n/${m[1]}${q.get("page") ? `.${q.get("page")}` : ""}.json`,
  ],
  [/^\/api\/registry$/, () => "api/registry.json"],
  [/^\/api\/cards\/([\w.]+)$/, (m) => `api/cards/${m[1]}.json`],
];

/** The file that answers a question as a server would, or null. */
export function fileOf(asked, site) {
  const { path, query } = split(asked);
  for (const [form, made] of files) {
    const found = form.exec(path);
    const file = found && made(found, query);
    if (file && site.answers.has(file)) return site.root + file;
  }
  if (site.answers.has(path.slice(1))) return site.root + path.slice(1);
  if (/^\/(static|packs|pictures)\//.test(path)) return `${site.root}${path.slice(1)}`;
  return null;
}

/** The address in this site of what a server calls `path`.
 * @param {string} path @param {Site} site */
export function toSite(path, site) {
  const file = fileOf(path, site);
  if (file) return file;
  const found = split(path);
  const { query, hash } = found;
  const asked = (query.get("lang") ?? site.lang).split("-")[0];
  const lang = site.langs.includes(asked) ? asked : site.langs[0];
  query.delete("lang");
  const home = site.root + (lang === site.langs[0] ? "" : `${lang}/`);
  let name = found.path;
  const told = () => (query.size ? `?${query}` : "");
  const run = /^\/([re])(?:\/([0-9a-f]{16}))?$/.exec(name);
  if (run) {
    const said = new URLSearchParams(run[2] ? { run: run[2] } : {});
    for (const [key, value] of query) said.append(key, value);
    return `${home}${run[1]}/${said.size ? `?${said}` : ""}${hash}`;
  }
  const code = /^\/s\/([^/]+)/.exec(name)?.[1];
  if (code && site.codes[code.toUpperCase()])
    name = name.replace(code, site.codes[code.toUpperCase()]);
  const open = site.any.some((one) => name === one || (one.endsWith("/") && name.startsWith(one)));
  if (site.pages.has(name) && (!query.size || open))
    return `${home}${name === "/" ? "" : `${name.slice(1)}/`}${told()}${hash}`;
  if (site.needs.some((one) => name === one || name.startsWith(`${one}/`)))
    return `${home}needs-server/`;
  const more = query.size ? `&${query}` : "";
  return `${home}at/?p=${encodeURIComponent(name).replaceAll("%2F", "/")}${more}${hash}`;
}
