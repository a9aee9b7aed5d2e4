// The whole view as tables: the same as the picture, for those who read it.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { partOf } from "../core/partition.js";
import { capital } from "../i18n/words.js";
import { essence } from "../scene/words.js";
import { recordRows, replicaRow } from "./tablerows.js";

function Table({ caption, heads, rows, rowHead = true }) {
  if (!rows.length) return null;
  return html`<div class="scrollx" role="region" aria-label=${caption} tabindex="0">
    <table class="grid">
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${heads.map((one, i) => html`<th key=${i} scope="col">${one}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row, i) =>
            html`<tr key=${i}>
              ${row.map((cell, j) =>
                j === 0 && rowHead
                  ? html`<th key=${j} scope="row">${cell}</th>`
                  : html`<td key=${j}>${cell}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

const sent = ({ sent, acked }, ledger, t) =>
  t("client.sent", { n: sent ?? ledger.sent, a: acked ?? ledger.acked });

const waits = ({ m, to, acks }, t, name) =>
  t("client.waits", { m: [m].flat().join(" "), b: name(to), acks: acks === -1 ? "all" : acks });

const list = (ids, name) => `[${ids.map((id) => name(id, true)).join(", ")}]`;

/** What is on its way, the links it takes, and who waits for it. */
const Traffic = ({ view, t, name }) =>
  html`<${Table}
      caption=${t("hits.flying")}
      heads=${[
        t("field.kind"),
        t("field.from"),
        t("field.to"),
        t("table.says"),
        t("field.sent"),
        t("field.due"),
      ]}
      rows=${view.messages.map((m) => [
        `${m.kind}${m.reply ? ` (${t("field.reply")})` : ""}`,
        name(m.from),
        name(m.to),
        essence(m, t, (id) => name(id, true)),
        m.sent,
        m.held ? t("link.held") : m.due,
      ])}
    />
    <${Table}
      caption=${t("hits.links")}
      heads=${["", t("link.cut"), "ms", "%", t("link.held")]}
      rows=${view.links.map((l) => [
        `${name(l.a, true)} – ${name(l.b, true)}`,
        l.cut === "none" ? "–" : l.cut,
        String(l.delay),
        Math.round(l.loss * 100),
        l.held ? "✓" : "–",
      ])}
    />
    <${Table}
      caption=${t("layer.clients")}
      heads=${["", t("table.sees")]}
      rows=${view.clients.map((c) => [
        capital(name(c.id)),
        c.kind === "producer"
          ? [sent(c, view.ledger, t), ...(c.waiting ?? []).map((one) => waits(one, t, name))].join(
              " · ",
            )
          : t("client.reads", { o: c.position ?? 0 }),
      ])}
    />`;

const reign = (controller, t) =>
  controller.alive === false ? t("ctl.dead") : t("ctl.reign", { e: controller.epoch });

export function TableView() {
  const t = s.t.value;
  const name = s.name.value;
  const step = s.step.value;
  if (!step) return null;
  const { view } = step;
  const part = partOf(view, s.partition.value);
  const { record } = part;
  const records = recordRows(part, { t, name });
  const mode = t(view.mode === "zk" ? "ctl.zk" : "ctl.kraft");
  return html`<div class="stack tables">
    <${Table}
      caption=${`${part.name}: ${mode}, ${reign(view.controller, t)}`}
      heads=${[
        t("ctl.leader"),
        t("ctl.epoch"),
        view.mode === "zk" ? t("ctl.zversion") : t("ctl.pe"),
        "ISR",
        "ELR",
        t("ctl.adding"),
        t("ctl.removing"),
      ]}
      rowHead=${false}
      rows=${[
        [
          record.leader >= 0 ? name(record.leader) : t("ctl.none"),
          record.le,
          record.pe,
          list(record.isr, name),
          list(record.elr ?? [], name),
          list(record.adding ?? [], name),
          list(record.removing ?? [], name),
        ],
      ]}
    />
    <${Table}
      caption=${t("hits.lanes")}
      heads=${[
        "",
        t("field.role"),
        "ISR",
        t("field.start"),
        "LEO",
        "HW",
        t("mark.epochs"),
        t("field.belief"),
        t("table.remembers"),
        t("table.disk"),
      ]}
      rows=${view.brokers.map((b) => replicaRow(part, b, { t, name }))}
    />
    <${Table} caption=${t("table.records")} heads=${records.heads} rows=${records.rows} />
    <${Traffic} view=${view} t=${t} name=${name} />
  </div>`;
}
