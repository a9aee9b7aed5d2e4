// The drawer: three names, and behind each its panels, by the usual pattern of tabs.

import { html } from "htm/preact";

import { pick } from "../animator/choose.js";
import { Checks, Inspect, Lens, Log, Metrics, TableView } from "../animator/on_request.js";
import * as s from "../animator/state.js";
import { Icon, tabKeys } from "./common.js";
import { Now } from "./now.js";
import { Sentence } from "./sentence.js";
import { Verdict } from "./verdict.js";

const Why = () => html`<${Sentence} /><${Verdict} /><${Now} />`;

/** The component of each of `s.TABS`. */
const PANELS = {
  now: Why,
  code: Lens,
  inspect: Inspect,
  table: TableView,
  metrics: Metrics,
  log: Log,
  checks: Checks,
};

export function Tabs() {
  const t = s.t.value;
  if (!s.drawer.value) return null;
  const current = s.tab.value;
  const Panel = PANELS[current];
  const count = s.broken.value.length;
  const close = () => {
    s.drawer.value = false;
    document.getElementById("whynow")?.focus();
  };
  return html`<section
    class="tabs"
    aria-label=${t("tabs.label")}
    onKeyDown=${(event) => event.key === "Escape" && !event.defaultPrevented && close()}
  >
    <div class="drawerhead">
      <div
        role="tablist"
        aria-label=${t("tabs.label")}
        onKeyDown=${tabKeys(s.TABS, current, (name) => pick(name, true))}
      >
        ${Object.entries(s.DRAWER).map(
          ([group, names]) =>
            html`<div key=${group} role="presentation" class="group">
              <span aria-hidden="true">${t(`drawer.${group}`)}</span>
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
                      name === "checks" && count > 0
                        ? html`<span class="badge">${count}</span>`
                        : null
                    }
                  </button>`,
              )}
            </div>`,
        )}
      </div>
      <button type="button" class="btn quiet square" aria-label=${t("bad.close")} onClick=${close}>
        <${Icon} name="close" />
      </button>
    </div>
    <div role="tabpanel" id="panel" aria-labelledby=${`tab-${current}`} tabindex="0">
      <${Panel} />
    </div>
  </section>`;
}
