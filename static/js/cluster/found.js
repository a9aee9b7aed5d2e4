// What was read of a pasted text: problems, partitions and settings, the matrix, assumptions.

import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";

import { watchCut } from "../core/cut_columns.js";
import { pageWords } from "../core/dom.js";
import { translator } from "../i18n/words.js";
import { Meaning } from "./meaning.js";
import { Report } from "./report.js";

const { lang } = JSON.parse(document.getElementById("boot").textContent);
const t = translator(await pageWords(), lang);

const listed = (ids) => ids.join(", ") || "–";
const partOf = (one) =>
  html`<tr key=${one.name}>
    <th scope="row">${one.name}</th>
    <td>${one.leader < 0 ? t("cluster.none") : one.leader}</td>
    <td>${listed(one.replicas)}</td>
    <td>${listed(one.isr)}</td>
    <td>${listed(one.elr)}</td>
    <td>${one.min_isr}</td>
  </tr>`;
const topicOf = ({ name, settings, assumed }, partitions) =>
  html`<tbody key=${name}>
    <tr class="topic">
      <th scope="rowgroup" colspan="6">
        ${name}
        ${Object.entries(settings).map(([key, value]) => html`<code>${key}=${value}</code>`)}
        ${
          assumed.length > 0 &&
          html`<span class="soft">${t("cluster.untold", { names: assumed.join(", ") })}</span>`
        }
      </th>
    </tr>
    ${partitions.filter(({ topic }) => topic === name).map(partOf)}
  </tbody>`;
const told = (put) => (one, i) =>
  html`<li key=${i}>
    ${one.line > 0 && html`<b>${t("cluster.line", { line: one.line })}</b> `}${t(one.key, one.args)}
    ${one.choices.map(
      (choice) =>
        html`<button key=${choice.put} class="btn small" type="button" onClick=${() => put(choice)}>
          ${t(choice.key, choice.args)}
        </button>`,
    )}
  </li>`;

const Notes = ({ title, notes, put }) =>
  notes.length > 0 &&
  html`<div>
    <h2>${title}</h2>
    <ul>
      ${notes.map(told(put))}
    </ul>
  </div>`;

/** What a broker's death does to each partition: the server's own table. */
function WhatIf({ address }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.replaceChildren();
    fetch(`${address}&lang=${lang}`)
      .then((answer) => (answer.ok ? answer.text() : ""))
      .then((table) => {
        const page = new DOMParser().parseFromString(table, "text/html");
        box.current?.replaceChildren(...page.body.children);
        if (box.current) watchCut(box.current);
      })
      .catch(() => box.current?.replaceChildren(t("cluster.offline")));
  }, [address]);
  return html`<h2>${t("cluster.whatif")}</h2>
    <div ref=${box} aria-live="polite"></div>`;
}

export function Found({ answer, link, left, put, film, voters, read }) {
  const { problems, partitions, topics, offline, profile } = answer;
  const { story, without, named, bugs, hits } = answer.box;
  const toldAlready =
    story?.states > 0 || without || [named, bugs, hits].some(({ length }) => length > 0);
  const notes = answer.notes.filter(({ key }) => !(toldAlready && key === "paste.note.nothing"));
  const down = t("cluster.down", { brokers: offline.join(", ") });
  return html`${left > 0 && html`<p role="status">${t("cluster.pruned", { n: left })}</p>`}
    ${answer.report && html`<${Report} answer=${answer} />`}
    <${Meaning} box=${answer.box} film=${film} voters=${voters} read=${read} />
    ${
      problems.length > 0 &&
      html`<div class="problems" role="alert">
        <h2>${t("cluster.problems")}</h2>
        <ul>
          ${problems.map(told(put))}
        </ul>
      </div>`
    }
    ${
      partitions.length > 0 &&
      html`<div>
        <h2>${t("cluster.partitions")}</h2>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">${t("cluster.partition")}</th>
                <th scope="col">${t("cluster.leader")}</th>
                <th scope="col">${t("cluster.replicas")}</th>
                <th scope="col">ISR</th>
                <th scope="col">ELR</th>
                <th scope="col">${t("cluster.min_isr")}</th>
              </tr>
            </thead>
            ${topics.map((one) => topicOf(one, partitions))}
          </table>
        </div>
        ${offline.length > 0 && html`<p class="soft">${down}</p>`}
      </div>`
    }
    ${answer.what_if && html`<${WhatIf} address=${answer.what_if} />`}
    <${Notes}
      put=${put}
      title=${t("cluster.assumed")}
      notes=${notes.filter(({ choices }) => choices.length)}
    />
    <${Notes}
      put=${put}
      title=${t("cluster.notes")}
      notes=${notes.filter(({ choices }) => !choices.length)}
    />
    ${
      link &&
      html`<form class="row" method="post" action="/practice/quiz">
        <a class="btn primary" href=${link}
          >${t(problems.length ? "cluster.open.part" : "cluster.open", { profile })}</a
        >
        <input type="hidden" name="csrf" value=${document.body.dataset.csrf} />
        <input type="hidden" name="run" value=${answer.run} />
        <button class="btn" title=${t("cluster.quiz.why")}>${t("cluster.quiz")}</button>
      </form>`
    }`;
}
