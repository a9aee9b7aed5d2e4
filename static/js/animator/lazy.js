// Parts of a page that are fetched when they are first wanted, each with the style sheet that it
// alone needs: the first view does without them.

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
export async function fetched(load, sheet) {
  const [found] = await Promise.all([load(), sheet && dressed(sheet)]);
  return found;
}

/** A component that stands for the one that `load` brings.  Without a connection it is asked for
 *  again as soon as there is one. */
export function component(load, sheet) {
  let found = null;
  return function Later(props) {
    const [, drawn] = useState(false);
    const online = s.online.value;
    useEffect(() => {
      let here = true;
      if (!found)
        fetched(load, sheet).then(
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
export const call =
  (load, sheet) =>
  async (...args) => {
    let found;
    try {
      found = await fetched(load, sheet);
    } catch {
      s.notice.value = { kind: "bad", text: s.t.value("offline.wait") };
      return undefined;
    }
    return found(...args);
  };
