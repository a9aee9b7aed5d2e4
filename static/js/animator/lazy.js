// Parts of the page that are fetched when they are first wanted: the first view does without them.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import { kept } from "../core/kept.js";
import * as s from "./state.js";

const sheets = new Map();

/** A style sheet that one part alone needs; resolves when it applies. */
function dressed(name) {
  if (!sheets.has(name)) {
    sheets.set(
      name,
      new Promise((done, failed) => {
        const link = Object.assign(document.createElement("link"), {
          rel: "stylesheet",
          href: kept(`/static/css/${name}.css`),
          onload: done,
        });
        link.onerror = () => {
          sheets.delete(name);
          link.remove();
          failed(new Error(link.href));
        };
        document.head.append(link);
      }),
    );
  }
  return sheets.get(name);
}

/** What `load` brings, once the style sheet it needs is there, too. */
async function fetched([load, sheet]) {
  const [found] = await Promise.all([load(), sheet && dressed(sheet)]);
  return found;
}

/** A component that stands for the one behind `part`, a function that gives [load, style sheet].
 *  Without a connection it is asked for again as soon as there is one. */
export function lazy(part) {
  let found = null;
  return function Later(props) {
    const [, drawn] = useState(false);
    const online = s.online.value;
    useEffect(() => {
      let here = true;
      if (!found)
        fetched(part()).then(
          (one) => {
            found = one;
            if (here) drawn(true);
          },
          () => {
            /* with the next connection */
          },
        );
      return () => {
        here = false;
      };
    }, [online]);
    return found ? html`<${found} ...${props} />` : html`<p class="soft" aria-busy="true">…</p>`;
  };
}

/** A function whose module comes with its first call; a visitor without a connection is told. */
export const door =
  (part) =>
  async (...args) => {
    const own = part();
    let found;
    try {
      found = await fetched(own);
    } catch {
      s.notice.value = { kind: "bad", text: s.t.value("offline.wait") };
      return undefined;
    }
    return found(...args);
  };

/** Fetches what is behind a door before it is wanted: it is there when the connection is not. */
export const ahead = (part) => () =>
  fetched(part()).catch(() => {
    /* asked for again when it is wanted */
  });
