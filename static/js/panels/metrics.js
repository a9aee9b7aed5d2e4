// Metrics: what each broker would report of itself, beside what is so; and the servers' log.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { askAbout } from "../net/channel.js";
import { Icon, Jump } from "./common.js";

/** Asks for the dashboard of the step we are on, once per step. */
async function load() {
  const on = s.tapeNow.value;
  if (!on || !s.online.value) return;
  const key = `${on.digest}@${s.n.value}`;
  if (s.dashboard.value.key === key) return;
  try {
    const answer = await askAbout(on, "metrics", { step: s.n.value });
    if (`${s.run.value}@${s.n.value}` === key) s.dashboard.value = { key, ...answer.metrics };
  } catch {
    /* offline or too fast: asked again with the next step */
  }
}

/** A name that may break between its humps. */
const humps = (name) =>
  name.split(/(?=[A-Z][a-z])/).flatMap((part, i) => (i ? [html`<wbr />`, part] : [part]));

/** kafka.server:type=X,name=Y,key=value as [kafka.server:type=X, Y, key=value]. */
function parts(mbean) {
  const [kind, ...tags] = mbean.split(",");
  const name = tags.find((tag) => tag.startsWith("name="))?.slice(5) ?? "";
  return [kind, name, tags.filter((tag) => !tag.startsWith("name=")).join(",")];
}

function Value({ row, node }) {
  const t = s.t.value;
  const value = row.values[node];
  if (value === undefined)
    return html`<td class="none">
      <span aria-hidden="true">–</span><span class="sr">${t("metrics.silent")}</span>
    </td>`;
  if (!row.wrong.includes(node)) return html`<td>${value}</td>`;
  return html`<td class="wrong">
    <b>${value}</b>${" "}<span class="so"
      ><span aria-hidden="true">≠ ${row.so[node]}</span
      ><span class="sr">${t("metrics.not", { n: row.so[node] })}</span></span
    >
  </td>`;
}

function Row({ row, nodes }) {
  const t = s.t.value;
  const [open, setOpen] = useState(false);
  const [, name, tags] = parts(row.mbean);
  return html`<tr data-metric=${row.key} data-off=${row.off ? "1" : null}>
      <th scope="row">
        <button
          type="button"
          class="metric"
          aria-expanded=${open ? "true" : "false"}
          onClick=${() => setOpen(!open)}
        >
          <code>${humps(name)}</code>${tags && html`<small>${tags}</small>`}
        </button>
      </th>
      ${nodes.map((node) => html`<${Value} key=${node} row=${row} node=${node} />`)}
      <td class=${`total ${row.off ? "off" : ""}`}>
        ${
          row.off && html`<${Icon} name="alert" />`
        }${row.total}${row.off && html`<span class="sr">${t("metrics.sum", { n: row.sum })}</span>`}
      </td>
    </tr>
    ${
      open &&
      html`<tr class="about">
        <td colspan=${nodes.length + 2}>
          <p>${t(`metric.${row.key}`)} ${t(`metric.${row.key}.so`)}</p>
        </td>
      </tr>`
    }`;
}

/** One table: of the brokers, or of the controller; rows of one MBean type stand together. */
function Table({ label, rows, nodes }) {
  const t = s.t.value;
  const kinds = [...new Set(rows.map((row) => parts(row.mbean)[0]))];
  return html`<div class="metricbox" role="region" aria-label=${label} tabindex="0">
    <table class="metrics">
      <thead>
        <tr>
          <th scope="col">${t("metrics.name")}</th>
          ${nodes.map(
            (node) =>
              html`<th key=${node} scope="col">
                <span class="sr"
                  >${node === "K" ? t("ent.controller") : s.name.value(Number(node))}</span
                ><span aria-hidden="true"
                  >${node === "K" ? "K" : s.name.value(Number(node), true)}</span
                >
              </th>`,
          )}
          <th scope="col">${t("metrics.so")}</th>
        </tr>
      </thead>
      ${kinds.map(
        (kind) =>
          html`<tbody key=${kind}>
            <tr class="kind">
              <th scope="rowgroup" colspan=${nodes.length + 2}>${kind}</th>
            </tr>
            ${rows
              .filter((row) => parts(row.mbean)[0] === kind)
              .map((row) => html`<${Row} key=${row.mbean} row=${row} nodes=${nodes} />`)}
          </tbody>`,
      )}
    </table>
  </div>`;
}

export function Metrics() {
  const t = s.t.value;
  useEffect(() => {
    const wait = setTimeout(load, 120);
    return () => clearTimeout(wait);
  }, [s.n.value, s.run.value, s.online.value]);
  const { key, nodes, rows, lines } = s.dashboard.value;
  const current = key === `${s.run.value}@${s.n.value}`;
  if (!rows)
    return html`<p class="soft">${t(s.online.value ? "metrics.asking" : "offline.wait")}</p>`;
  const brokers = nodes.map(String).filter((node) => node !== "K");
  const ofController = (row) => "K" in row.so;
  const wrong = rows.filter((row) => row.off || row.wrong.length).length;
  return html`<div class="stack" id="metrics" data-key=${key} aria-busy=${current ? null : "true"}>
    <p class="soft">
      ${t("metrics.note")} ${t(wrong ? "metrics.wrong" : "metrics.right", { n: wrong })}
    </p>
    <${Table}
      label=${t("metrics.brokers")}
      rows=${rows.filter((row) => !ofController(row))}
      nodes=${brokers}
    />
    <${Table} label=${t("ent.controller")} rows=${rows.filter(ofController)} nodes=${["K"]} />
    <section>
      <h3>${t("metrics.log")}</h3>
      ${
        lines.length === 0
          ? html`<p class="soft">${t("metrics.quiet")}</p>`
          : html`<ol class="serverlog">
              ${lines.map(
                (line, i) =>
                  html`<li key=${`${line.n}-${i}`} class=${line.level.toLowerCase()}>
                    <${Jump} n=${line.n}>${t("metrics.at", { n: line.n })}<//>${" "}<code
                      >${line.level} ${line.text}</code
                    >
                  </li>`,
              )}
            </ol>`
      }
    </section>
  </div>`;
}
