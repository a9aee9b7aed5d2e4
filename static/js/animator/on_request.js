// What is fetched when it is first wanted, each with the style sheet that it alone needs: the first
// view does without them.

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
async function fetched(load, sheet) {
  const [found] = await Promise.all([load(), sheet && dressed(sheet)]);
  return found;
}

/** A component that stands for the one that `load` brings.  Without a connection it is asked for
 *  again as soon as there is one. */
function component(load, sheet) {
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
const call =
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

const loadDialog = () => import("../share/dialog.js");

export const coach = call(() => import("../panels/coach.js").then((m) => m.begin));
export const help = call(() => import("../panels/help.js").then((m) => m.help));
export const readyHelp = call(() => import("../panels/help.js").then((m) => m.ready));
export const share = call(() => loadDialog().then((m) => m.share), "share");
/** The same, opened where a class is started or ended. */
export const shareClass = call(() => loadDialog().then((m) => m.shareClass), "share");
/** Fetches the dialog before it is wanted: it is there when the connection is not. */
export const fetchShare = () =>
  fetched(loadDialog, "share").catch(() => {
    /* asked for again when it is wanted */
  });
export const spacetime = call(() => import("../panels/timeview.js").then((m) => m.mount));
export const whyNot = call(() => import("../panels/why.js").then((m) => m.whyNot));
export const whySelected = call(() => import("../panels/why.js").then((m) => m.whySelected));

export const Checks = component(() => import("../panels/checks.js").then((m) => m.Checks));
export const ClassAsk = component(
  () => import("../classroom/ask.js").then((m) => m.ClassAsk),
  "asked",
);
export const ClassBar = component(
  () => import("../classroom/bar.js").then((m) => m.ClassBar),
  "share",
);
export const Inspect = component(() => import("../panels/inspect.js").then((m) => m.Inspect));
export const Lens = component(() => import("../lens/panel.js").then((m) => m.Lens), "lens");
export const Log = component(() => import("../panels/log.js").then((m) => m.Log));
export const Matrix = component(() => import("../panels/matrix.js").then((m) => m.Matrix));
export const Metrics = component(
  () => import("../panels/metrics.js").then((m) => m.Metrics),
  "metrics",
);
export const Predicting = component(
  () => import("../panels/predicting.js").then((m) => m.Predicting),
  "asked",
);
export const Reality = component(
  () => import("../panels/reality.js").then((m) => m.Reality),
  "beside",
);
export const Surgery = component(() => import("../panels/surgery.js").then((m) => m.Surgery));
export const TableView = component(() => import("../panels/table.js").then((m) => m.TableView));
