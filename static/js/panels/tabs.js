// The tabs of the side panel, by the usual pattern: one tab stop, arrows inside.

import { html } from "htm/preact";

import { pick } from "../animator/choose.js";
import { Checks, Inspect, Lens, Log, Metrics, TableView } from "../animator/on_request.js";
import * as s from "../animator/state.js";
import { Moves } from "./moves.js";
import { Now } from "./now.js";

/** What stands behind each of `s.TABS`. */
const PANELS = {
  now: Now,
  inspect: Inspect,
  moves: Moves,
  code: Lens,
  log: Log,
  checks: Checks,
  metrics: Metrics,
  table: TableView,
};

export function Tabs() {
  const t = s.t.value;
  const names = s.TABS;
  const current = names.includes(s.tab.value) ? s.tab.value : "now";
  const keys = (event) => {
    const at = names.indexOf(current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    pick(names[(to + names.length) % names.length], true);
  };
  const Panel = PANELS[current];
  const count = s.broken.value.length;
  return html`<section class="tabs" aria-label=${t("tabs.label")}>
    <div role="tablist" aria-label=${t("tabs.label")} onKeyDown=${keys}>
      ${names.map(
        (name) =>
          html`<button
            key=${name}
            type="button"
            role="tab"
            id=${`tab-${name}`}
            aria-selected=${name === current ? "true" : "false"}
            aria-controls="panel"
            tabindex=${name === current ? 0 : -1}
            onClick=${() => pick(name)}
          >
            ${t(`tab.${name}`)}${
              name === "checks" && count > 0 ? html`<span class="badge">${count}</span>` : null
            }
          </button>`,
      )}
    </div>
    <div role="tabpanel" id="panel" aria-labelledby=${`tab-${current}`} tabindex="0">
      <${Panel} />
    </div>
  </section>`;
}
