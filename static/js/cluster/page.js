// Bring your own cluster: what was pasted goes to the server, which reads it and stores nothing.

import { html } from "htm/preact";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { at, field, pageWords } from "../core/dom.js";
import { pack } from "../core/packing.js";
import { translator } from "../i18n/words.js";
import { EXAMPLE, pruned, withLine } from "./pasting.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const { lang } = boot;
const t = translator(await pageWords(), lang);

/** A header line goes where the cursor is, on a line of its own. */
function header() {
  const box = field("text");
  const file = field("file").value;
  const of = file === "leader-epoch-checkpoint" ? `${field("partition").value.trim()} ` : "";
  const line = `# broker ${Number(field("broker").value) || 0} ${of}${file}\n`;
  const before = box.value.slice(0, box.selectionStart);
  box.setRangeText(
    (before && !before.endsWith("\n") ? "\n" : "") + line,
    box.selectionStart,
    box.selectionEnd,
    "end",
  );
  box.focus();
}

const partOf = (one) =>
  html`<tr key=${one.name}>
    <th scope="row">${one.name}</th>
    <td>${one.leader < 0 ? t("cluster.none") : one.leader}</td>
    <td>${one.replicas.join(", ")}</td>
    <td>${one.isr.join(", ") || "–"}</td>
  </tr>`;
const told = (one, i) =>
  html`<li key=${i}>
    ${one.line > 0 && html`<b>${t("cluster.line", { line: one.line })}</b> `}${t(one.key, one.args)}
    ${one.choices.map(
      (choice) =>
        html`<button key=${choice.put} class="btn small" type="button" onClick=${() => put(choice)}>
          ${t(choice.key, choice.args)}
        </button>`,
    )}
  </li>`;

/** What a press says instead of an assumption becomes a line of the text, which is read again. */
function put(choice) {
  field("text").value = withLine(field("text").value, choice);
  read();
}

const Notes = ({ title, notes }) =>
  notes.length > 0 &&
  html`<div>
    <h2>${title}</h2>
    <ul>
      ${notes.map(told)}
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
      })
      .catch(() => box.current?.replaceChildren(t("cluster.offline")));
  }, [address]);
  return html`<h2>${t("cluster.whatif")}</h2>
    <div ref=${box} aria-live="polite"></div>`;
}

function Found({ answer, link, left }) {
  const { notes, problems, partitions, offline, profile } = answer;
  const down = t("cluster.down", { brokers: offline.join(", ") });
  return html`${left > 0 && html`<p role="status">${t("cluster.pruned", { n: left })}</p>`}
    ${
      problems.length > 0 &&
      html`<div class="problems" role="alert">
        <h2>${t("cluster.problems")}</h2>
        <ul>
          ${problems.map(told)}
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
              </tr>
            </thead>
            <tbody>
              ${partitions.map(partOf)}
            </tbody>
          </table>
        </div>
        ${offline.length > 0 && html`<p class="soft">${down}</p>`}
      </div>`
    }
    ${answer.what_if && html`<${WhatIf} address=${answer.what_if} />`}
    <${Notes}
      title=${t("cluster.assumed")}
      notes=${notes.filter(({ choices }) => choices.length)}
    />
    <${Notes} title=${t("cluster.notes")} notes=${notes.filter(({ choices }) => !choices.length)} />
    ${
      link &&
      html`<form class="row" method="post" action="/learn/quiz">
        <a class="btn primary" href=${link}
          >${t(problems.length ? "cluster.open.part" : "cluster.open", { profile })}</a
        >
        <input type="hidden" name="csrf" value=${document.body.dataset.csrf} />
        <input type="hidden" name="run" value=${answer.run} />
        <button class="btn" title=${t("cluster.quiz.why")}>${t("cluster.quiz")}</button>
      </form>`
    }`;
}

async function read(event) {
  event?.preventDefault();
  const { text, left } = pruned(field("text").value, boot.most);
  if (!text.trim()) {
    at("text").focus();
    return;
  }
  if (text.length > boot.most) {
    const sentence = t("cluster.long", { most: boot.most });
    render(html`<p class="bad" role="alert">${sentence}</p>`, at("found"));
    return;
  }
  const body = { text };
  if (field("profile").value) body.profile = field("profile").value;
  const headers = {
    "Content-Type": "application/json",
    "X-CSRF-Token": document.body.dataset.csrf,
  };
  let answer;
  try {
    answer = await fetch(`/api/cluster?lang=${lang}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    }).then((r) => r.json());
  } catch {
    answer = { ok: false, sentence: t("cluster.offline") };
  }
  if (!answer.ok) {
    render(html`<p class="bad" role="alert">${answer.sentence}</p>`, at("found"));
    return;
  }
  const link = answer.run ? `/r#run=${await pack(answer.run)}` : null;
  render(html`<${Found} answer=${answer} link=${link} left=${left} />`, at("found"));
  at("found").scrollIntoView({ block: "nearest" });
}

at("paste").addEventListener("submit", read);
at("header").addEventListener("click", header);
// The example never takes the place of what somebody pasted.
const filled = () => {
  field("example").disabled = field("text").value.trim() !== "";
};
at("text").addEventListener("input", filled);
at("example").addEventListener("click", () => {
  field("text").value = EXAMPLE;
  filled();
  at("text").focus();
});
at("file").addEventListener("change", () => {
  at("which").hidden = field("file").value !== "leader-epoch-checkpoint";
});
filled();
document.body.dataset.ready = "1";
