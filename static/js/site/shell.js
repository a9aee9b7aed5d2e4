// A page that does not lie in the folder: the engine's worker renders it, and it is put in place
// of what this one shows.

import { takePosted } from "./posted.js";

/** Lets links, frames and forms of a parsed page lead to where they lie in this site. */
export function place(doc, placed) {
  for (const name of ["href", "src", "action"])
    for (const element of doc.querySelectorAll(`[${name}]`)) {
      const said = element.getAttribute(name);
      if (/^(\/(?!\/)|\?)/.test(said)) element.setAttribute(name, placed(said));
    }
}

const dressed = (link) =>
  new Promise((done) => {
    link.onload = done;
    link.onerror = done;
    document.head.append(link);
  });

/** Puts a parsed page into this one, and runs its scripts.
 * @param {Document} doc
 * @param {{placed: (path: string) => string, packs: Record<string, string>, root: string}} how */
export async function enter(doc, { placed, packs, root }) {
  place(doc, placed);
  document.title = doc.title;
  const sheets = [...doc.head.querySelectorAll('link[rel="stylesheet"]')].map((sheet) => {
    const link = document.createElement("link");
    for (const { name, value } of sheet.attributes) link.setAttribute(name, value);
    return link;
  });
  const known = [...document.querySelectorAll('link[rel="stylesheet"]')].map((one) =>
    /** @type {HTMLLinkElement} */ (one).href.replace(/\?.*/, ""),
  );
  await Promise.all(
    sheets.filter((one) => !known.includes(one.href.replace(/\?.*/, ""))).map(dressed),
  );
  const words = doc.getElementById("words");
  if (words) document.head.append(document.importNode(words, true));
  document.body.className = doc.body.className;
  const bare = doc.querySelector("header.top") ? "" : ", body > header.top, body > .skip";
  for (const old of document.querySelectorAll(`body > main, body > footer${bare}`)) old.remove();
  for (const element of [...doc.body.children])
    if (!element.matches('header.top, .skip, script[type="module"]'))
      document.body.append(document.importNode(element, true));
  for (const script of doc.querySelectorAll('script[type="module"][src]')) {
    const entry = /[\w-]+\/[\w-]+\.js$/.exec(script.getAttribute("src"))?.[0];
    if (entry && entry !== "pages/settings.js" && packs[entry]) await import(root + packs[entry]);
  }
}

/** Lets the page's script write its address as on a server: the path it is known by stays there.
 * @param {(path: string) => string} placed */
function rememberPath(placed) {
  const p = new URLSearchParams(location.search).get("p");
  for (const name of ["replaceState", "pushState"]) {
    const own = history[name].bind(history);
    history[name] = (state, title, href) => {
      const url = new URL(href ?? location.href, location.href);
      if (p && url.pathname === location.pathname && !url.searchParams.has("p"))
        url.search = `?p=${p}${url.search.replace("?", "&")}`;
      return own(state, title, placed(url.href));
    };
  }
}

/** Asks for the page that the address means, and enters it.
 * @param {{path: string, fetched: typeof fetch, sorry: () => void,
 *   placed: (path: string) => string, packs: Record<string, string>, root: string}} how */
export async function show({ path, fetched, sorry, ...how }) {
  rememberPath(how.placed);
  const post = takePosted();
  const options =
    post?.path === path.replace(/\?.*/, "")
      ? { method: "POST", body: post.body, headers: { "Content-Type": post.type } }
      : {};
  const answer = await fetched(path, options).catch(() => null);
  if (!answer) {
    sorry();
    return;
  }
  const to = answer.headers.get("Location");
  if (to) {
    location.replace(how.placed(to));
    return;
  }
  await enter(new DOMParser().parseFromString(await answer.text(), "text/html"), how);
}
