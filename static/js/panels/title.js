// The line over the stage: the pages of the site, which run, which release, and what else there is.

import { html } from "htm/preact";

import { LevelTitle, share } from "../animator/on_request.js";
import * as s from "../animator/state.js";
import { partOf } from "../core/partition.js";
import { Icon } from "./common.js";
import { More } from "./more.js";
import { Release } from "./release.js";

export const compareWith = (facts) =>
  `/r/${facts.digest}/compare${s.n.value ? `?step=${s.n.value}` : ""}`;

const MOST_TABS = 5;

/** What is wrong with a partition: it is gone, has no leader (✗), or lacks a replica (●). */
function wrong(part, t) {
  if (part.gone) return ` · ${t(`ctl.${part.gone}`)}`;
  if (part.record.leader < 0) return " ✗";
  return part.record.isr.length < part.ar.length ? " ●" : "";
}

/** The partitions: as tabs where they are few, else as a list. */
function Partition({ parts, t }) {
  const { p: shown } = partOf({ partitions: parts }, s.partition.value);
  const choose = (p) => {
    s.partition.value = p;
  };
  if (parts.length <= MOST_TABS && !s.phone.value)
    return html`<div class="segments" role="group" aria-label=${t("title.partition")}>
      ${parts.map(
        (part) =>
          html`<button
            key=${part.p}
            type="button"
            aria-pressed=${part.p === shown ? "true" : "false"}
            onClick=${() => choose(part.p)}
          >
            ${part.name}${wrong(part, t)}
          </button>`,
      )}
    </div>`;
  return html`<select
    class="partition"
    aria-label=${t("title.partition")}
    value=${String(shown)}
    onChange=${(e) => choose(Number(e.target.value))}
  >
    ${parts.map(
      (p) => html`<option key=${p.p} value=${String(p.p)}>${p.name}${wrong(p, t)}</option>`,
    )}
  </select>`;
}

/** Where this run stands on the path of the first page. */
function Path({ t }) {
  const { path, scenario } = s.boot.value;
  if (!path || s.facts.value.scenario.slug !== scenario.slug) return null;
  return html`<span class="pathplace" aria-label=${t("path.label")}
    >${t("path.place", { n: path.number, of: path.of })}</span
  >`;
}

export function Title() {
  const t = s.t.value;
  const facts = s.facts.value;
  if (!facts) return html`<div class="titlebar"><h1>…</h1></div>`;
  const parts = s.step.value?.view.partitions ?? [];
  return html`<div class="titlebar">
    <button
      type="button"
      class="btn quiet square"
      popovertarget="site"
      aria-label=${t("title.site")}
      title=${t("title.site")}
    >
      ☰
    </button>
    ${
      s.level.value
        ? html`<${LevelTitle} />`
        : html`<h1 title=${facts.scenario.title}>${facts.scenario.title}</h1>
            <${Path} t=${t} />
            ${parts.length > 1 && html`<${Partition} parts=${parts} t=${t} />`}
            ${!s.phone.value && html`<${Release} />`}
            <a class="btn" id="compare" href=${compareWith(facts)}>${t("compare.go")}</a>
            <button
              type="button"
              class="btn"
              id="sharing"
              aria-label=${t("share.open")}
              aria-haspopup="dialog"
              onClick=${share}
            >
              <${Icon} name="save" /><span class="wide">${t("share.open")}</span>
            </button>`
    }
    <${More} />
  </div>`;
}
