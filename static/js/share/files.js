// Files to take along: texts made by the server, and this frame as a picture.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { download } from "../core/dom.js";
import { short } from "../core/link.js";
import { clear, ofStep, png } from "../export/frame.js";
import { WIDEST } from "../export/plan.js";
import { loadParts } from "../export/written.js";
import { captionAt, judged, sayAll } from "../panels/common.js";
import { Animation } from "./animation.js";
import { Copied, why } from "./common.js";

const TEXTS = ["yaml", "json", "steps", "golden", "mermaid", "shiviz"];

const lanes = () =>
  [...document.querySelectorAll("#stage > svg .lanegroup")]
    .map((one) => one.getAttribute("aria-label"))
    .join(" ");

/** The words that go with the picture of a step. */
function words(step) {
  const t = s.t.value;
  const { digest, scenario, profile, total } = s.facts.value;
  const { words: said, aside = "" } = captionAt(step, s.facts.value);
  const link = short(location.origin, digest, { step: step.n, lang: s.lang.value });
  const where = t("export.note", { n: step.n, total, profile });
  return {
    title: `${scenario.title} · ${where}`,
    head: { title: scenario.title, ...judged(step) },
    lines: [said, aside],
    note: `${where} · ${link}`,
    desc: [sayAll(step), step.n === s.n.value ? lanes() : "", t("export.rights", { link })]
      .join(" ")
      .replaceAll(/\s+/g, " "),
    lang: document.documentElement.lang,
  };
}

const nameOf = (ending) =>
  `${s.facts.value.scenario.slug || s.run.value}-${s.facts.value.profile}-${s.n.value}.${ending}`;

async function picture(kind) {
  await loadParts();
  const said = words(s.step.value);
  const made = ofStep(s.step.value, WIDEST, { ...said, lines: said.lines.filter(Boolean) });
  clear();
  download(
    kind === "svg" ? new Blob([made.text], { type: "image/svg+xml" }) : await png(made),
    nameOf(kind),
  );
}

function Text({ form }) {
  const t = s.t.value;
  const [told, setTold] = useState("");
  const url = `/r/${s.run.value}/export/${form}`;
  const copy = async () => {
    try {
      const answer = await fetch(`${url}?show`);
      await navigator.clipboard.writeText(await answer.text());
      setTold(t("share.copied"));
    } catch {
      setTold(t("share.nocopy"));
    }
  };
  return html`<li>
    <div class="grow"><b>${t(`export.${form}`)}</b><small>${t(`export.${form}.why`)}</small></div>
    <span role="status" class="soft">${told}</span>
    ${
      form !== "steps" &&
      html`<button
        type="button"
        class="btn"
        aria-label=${t("export.copy", { what: t(`export.${form}`) })}
        onClick=${copy}
      >
        ${t("share.copy")}
      </button>`
    }
    <a
      class="btn"
      href=${url}
      download
      aria-label=${t("export.save", { what: t(`export.${form}`) })}
      >${t("export.download")}</a
    >
  </li>`;
}

export function Export() {
  const t = s.t.value;
  const [bad, setBad] = useState(null);
  const draw = (kind) =>
    picture(kind).then(
      () => setBad(null),
      (problem) => setBad(why(problem)),
    );
  return html`<div class="stack">
    <section>
      <h3>${t("export.pictures")}</h3>
      <ul class="files">
        <li>
          <div class="grow">
            <b>${t("export.frame", { n: s.n.value })}</b><small>${t("export.frame.why")}</small>
          </div>
          <button type="button" class="btn" onClick=${() => draw("svg")}>SVG</button
          ><button type="button" class="btn" onClick=${() => draw("png")}>PNG</button>
        </li>
      </ul>
      ${bad && html`<p class="bad" role="status">${bad}</p>`}
      <${Animation} name=${nameOf} words=${words} />
    </section>
    <section>
      <h3>${t("export.texts")}</h3>
      <ul class="files">
        ${TEXTS.map((form) => html`<${Text} key=${form} form=${form} />`)}
      </ul>
    </section>
  </div>`;
}

export function Test() {
  const t = s.t.value;
  const [text, setText] = useState(null);
  const [bad, setBad] = useState(null);
  const url = `/r/${s.run.value}/export/pytest`;
  if (text === null && !bad)
    fetch(`${url}?show`).then(
      async (r) => (r.ok ? setText(await r.text()) : setBad((await r.json()).sentence)),
      () => setBad(t("offline.wait")),
    );
  return html`<div class="stack">
    <p>${t("test.why")}</p>
    ${bad && html`<p class="bad" role="status">${bad}</p>`}
    ${text !== null && html`<${Copied} label=${t("test.label")} text=${text} rows=${14} />`}
    <p><a class="btn" href=${url} download>${t("export.download")}</a></p>
  </div>`;
}
