// Links and forms that scripts write as a server's: they lead to where the page lies in this site.

import { download } from "../core/dom.js";
import { keepPosted } from "./posted.js";

/** @param {{placed: (href: string) => string, fetched: typeof fetch,
 *   inFolder: (href: string) => boolean}} how */
export function lead({ placed, fetched, inFolder }) {
  const linkOf = (event) => event.target.closest?.("a[href]");

  const mend = (event) => {
    const link = linkOf(event);
    const said = link?.getAttribute("href");
    if (!link || said.startsWith("#") || link.protocol === "blob:") return;
    const to = placed(link.href);
    if (to !== link.href) link.href = to;
  };
  for (const name of ["pointerover", "focusin", "pointerdown"])
    document.addEventListener(name, mend, true);

  document.addEventListener(
    "click",
    (event) => {
      const link = linkOf(event);
      const own = link && new URL(link.href).origin === location.origin;
      if (own && link.hasAttribute("download") && !inFolder(link.href)) {
        event.preventDefault();
        downloadLinked(link, fetched);
      } else mend(event);
    },
    true,
  );

  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    const form = /** @type {HTMLFormElement} */ (event.target);
    const by = event.submitter instanceof HTMLElement ? event.submitter : null;
    event.preventDefault();
    const data = new URLSearchParams(
      /** @type {[string, string][]} */ (
        [...new FormData(form, by)].map(([k, v]) => [k, String(v)])
      ),
    );
    const action = form.getAttribute("action") || location.href;
    if (form.method === "post") {
      const path = new URL(action, location.href).searchParams.get("p");
      const sent = { path: path ?? action, body: String(data), type: FORM };
      keepPosted(sent);
      location.assign(placed(action));
    } else {
      const url = new URL(placed(action), location.href);
      const path = url.searchParams.get("p");
      const lang = url.searchParams.get("lang");
      const query = new URLSearchParams(path ? { p: path } : {});
      if (lang && !data.has("lang")) query.set("lang", lang);
      for (const [name, value] of data) query.append(name, value);
      url.search = String(query);
      location.assign(placed(url.href));
    }
  });
}

const FORM = "application/x-www-form-urlencoded";

async function downloadLinked(link, fetched) {
  const answer = await fetched(link.getAttribute("href"));
  const named = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
  download(await answer.blob(), named ?? link.getAttribute("download") ?? "");
}
