// The cluster as a report: findings, the worst first, what may restart next, Markdown and print.

import { html } from "htm/preact";

import { pageWords } from "../core/dom.js";
import { kafka, translator } from "../i18n/words.js";

const { lang } = JSON.parse(document.getElementById("boot").textContent);
const t = translator(await pageWords(), lang);

const said = ({ key, args }) => t(`report.${key}`, args);
const MOST_NAMES = 4;

/** What may restart, as sentences. */
function restarts({ restarts: brokers }) {
  const safe = brokers.filter(({ stops }) => !stops.length).map(({ broker }) => broker);
  const first = safe.length
    ? t("report.restart.order", { brokers: safe.join(", ") })
    : t("report.restart.none");
  const others = brokers
    .filter(({ stops }) => stops.length)
    .map(({ broker, stops }) => {
      const more = stops.length > MOST_NAMES ? " …" : "";
      const names = stops.slice(0, MOST_NAMES).join(", ") + more;
      return t("report.restart.not", { broker, names });
    });
  return [first, ...others];
}

const row = (cells) => `| ${cells.join(" | ")} |`;

/** The same for a ticket. */
function markdown({ report, partitions, topics, profile, offline }) {
  const findings = report.findings.map(said);
  const listed = (ids) => ids.join(", ") || "–";
  return [
    `## ${t("report.heading", { profile: kafka(t, profile) })}`,
    "",
    ...(findings.length ? findings : [t("report.fine")]).map((one) => `- ${one}`),
    ...(offline.length ? [`- ${t("cluster.down", { brokers: offline.join(", ") })}`] : []),
    "",
    `### ${t("report.restart")}`,
    "",
    ...restarts(report).map((one) => `- ${one}`),
    "",
    row([t("cluster.partition"), t("cluster.leader"), t("cluster.replicas"), "ISR", "ELR"]),
    row(["---", "---", "---", "---", "---"]),
    ...partitions.map(({ name, leader, replicas, isr, elr }) =>
      row([
        name,
        leader < 0 ? t("cluster.none") : leader,
        listed(replicas),
        listed(isr),
        listed(elr),
      ]),
    ),
    "",
    ...topics.map(({ name, settings }) => {
      const values = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
      return `- ${name}: ${values.join(", ") || "–"}`;
    }),
    "",
  ].join("\n");
}

async function copy(event, answer) {
  const button = event.currentTarget;
  await navigator.clipboard.writeText(markdown(answer));
  button.textContent = t("report.copied");
}

export function Report({ answer }) {
  const { report } = answer;
  return html`<section class="report">
    <h2>${t("report.title")}</h2>
    <ul class="findings">
      ${report.findings.map((one, i) => html`<li key=${i} class=${one.severity}>${said(one)}</li>`)}
      ${report.findings.length === 0 && html`<li>${t("report.fine")}</li>`}
    </ul>
    <h3>${t("report.restart")}</h3>
    <ul>
      ${restarts(report).map((one) => html`<li key=${one}>${one}</li>`)}
    </ul>
    <p class="row">
      <button class="btn small" type="button" onClick=${(event) => copy(event, answer)}>
        ${t("report.copy")}
      </button>
      <button class="btn small" type="button" onClick=${() => window.print()}>
        ${t("report.print")}
      </button>
    </p>
  </section>`;
}
