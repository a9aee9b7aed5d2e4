// The story of an incident: the verdict, the clock, the film, and the check of the model.

import { html } from "htm/preact";

import { pageWords } from "../core/dom.js";
import { translator } from "../i18n/words.js";

const { lang } = JSON.parse(document.getElementById("boot").textContent);
const t = translator(await pageWords(), lang);

/** The time of day as the logs have it. */
const clock = (ms) => new Date(ms).toISOString().slice(11, 23);
const isBad = ([, , , grave]) => grave;
const Row = (began) =>
  function row([time, who, what, grave], i) {
    return html`<tr key=${i} class=${grave ? "bad" : ""}>
      <td>${clock(began + time)}</td>
      <td>${who}</td>
      <td>${what}</td>
    </tr>`;
  };

const span = (ms) =>
  ms === null ? "?" : Math.abs(ms) < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(3)} s`;

const Listed = ({ title, rows }) =>
  rows.length > 0 &&
  html`<h3>${title}</h3>
    <ul>
      ${rows.map((one) => html`<li key=${one}>${one}</li>`)}
    </ul>`;

/** The check of the model, which is not what one looks for first. */
function Check({ answer }) {
  const { followed, states, profile, finding, notes, clocks, disks } = answer;
  const none = disks ? "incident.none.disks" : "incident.none";
  return html`<details class="check" open=${!states}>
    <summary>${t(states ? "incident.check" : "incident.missing")}</summary>
    ${
      finding
        ? html`<p class="finding bad">
            ${states > 0 && html`<b>${t("incident.finding")}</b> `}${finding}
          </p>`
        : html`<p class="finding">✓ ${t(none, { n: states })}</p>`
    }
    ${states > 0 && html`<p>${t("incident.followed", { followed, states, profile })}</p>`}
    ${states > 0 && html`<p class="soft">${t("incident.record")}</p>`}
    <${Listed}
      title=${t("incident.clocks")}
      rows=${clocks.map(([node, least, most]) =>
        t("incident.clock", { node, least: span(least), most: span(most) }),
      )}
    />
    <${Listed} title=${t("incident.notes")} rows=${notes} />
  </details>`;
}

export function Story({ answer, link }) {
  const { partition, verdict, began, rows, more } = answer;
  return html`<section class="incident">
    <h2>${t("incident.story", { partition })}</h2>
    ${
      verdict.length > 0 &&
      html`<ul class="verdict">
        ${verdict.map((one) => html`<li key=${one}>${one}</li>`)}
      </ul>`
    }
    ${rows
      .filter(isBad)
      .map(([time, , what]) => html`<p key=${time + what} class="lost">${what}</p>`)}
    ${link && html`<p><a class="btn primary" href=${link}>${t("incident.open")}</a></p>`}
    <div class="scroll">
      <table>
        <thead>
          <tr>
            ${["time", "who", "what"].map(
              (one) => html`<th key=${one} scope="col">${t(`incident.${one}`)}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map(Row(began))}
        </tbody>
      </table>
    </div>
    ${more > 0 && html`<p>${t("incident.more", { n: more })}</p>`}
    <${Check} answer=${answer} />
  </section>`;
}

export const Choose = ({ answer, read }) =>
  html`<h2>${t("incident.choose")}</h2>
    <ul class="row">
      ${answer.choose.map(
        ([name, n]) =>
          html`<li key=${name}>
            <button class="btn" type="button" onClick=${() => read(name)}>
              ${name} <span class="soft">${t("incident.changes", { n })}</span>
            </button>
          </li>`,
      )}
    </ul>`;
