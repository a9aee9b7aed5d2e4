// Entry of the editor page: the form, the text beside it, and the stage below.

import { effect } from "@preact/signals";
import { html } from "htm/preact";
import { render } from "preact";

import * as s from "../animator/state.js";
import { at, download, field, pageWords } from "../core/dom.js";
import { inAddress } from "../i18n/words.js";
import { connect, use } from "../net/channel.js";
import { Icon } from "../panels/common.js";
import { Hits } from "../panels/hits.js";
import { Sentence } from "../panels/sentence.js";
import { Form } from "./form.js";
import { linkOf } from "./saving.js";
import * as e from "./state.js";
import { attempt, live, TryHead } from "./trial.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const area = field("yaml");

async function start() {
  const lang = inAddress(boot.lang);
  const words = await pageWords();
  for (const state of [e, s]) {
    state.lang.value = lang;
    state.words.value = words;
  }
  e.offers.value = boot.offers;
  e.asks.value = boot.asks;
  e.problems.value = boot.problems;
  e.text.value = boot.yaml;
  e.doc.value = boot.scenario;
  for (const [id, part] of Object.entries({
    form: Form,
    acts: Acts,
    problems: Problems,
    tryhead: TryHead,
    say: Sentence,
    hits: Hits,
  }))
    render(html`<${part} />`, at(id));
  area.addEventListener("input", () => e.typed(area.value));
  area.addEventListener("scroll", () => {
    at("numbers").scrollTop = area.scrollTop;
  });
  effect(() => {
    if (area.value !== e.text.value) area.value = e.text.value;
    number();
  });
  use(
    connect({
      onConnect: () => {
        s.online.value = true;
      },
      onLost: () => {
        s.online.value = false;
      },
    }),
  );
  live();
  addEventListener("keydown", undoByKey);
  at("begin").addEventListener("click", takeTemplate);
  document.body.dataset.ready = "1";
}

/** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y), but in a field of the form that is being typed in: there
 *  the browser undoes letters. */
function undoByKey(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  if (event.target !== area && event.target.matches?.("input, textarea, select")) return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) e.redo();
  else e.undo();
}

/** A template replaces the text as a change that can be undone; without scripts it is a link. */
async function takeTemplate(event) {
  const chip = event.target.closest("a.chip");
  if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const page = await (await fetch(chip.href)).text();
    const found = new DOMParser().parseFromString(page, "text/html").getElementById("yaml");
    e.begin(found.textContent);
  } catch {
    e.notice.value = { kind: "warn", text: e.t.value("offline.wait") };
  }
}

/** Line numbers beside the text; those with a problem are marked. */
function number() {
  const bad = new Set(e.problems.value.map((one) => one.line));
  const count = e.text.value.split("\n").length;
  at("numbers").replaceChildren(
    ...Array.from({ length: count }, (_, i) => {
      const line = document.createElement("span");
      line.textContent = `${i + 1}\n`;
      if (bad.has(i + 1)) line.className = "bad";
      return line;
    }),
  );
  at("numbers").scrollTop = area.scrollTop;
}

/** The cursor to where a problem is. */
function show({ line, column }) {
  const lines = area.value.split("\n");
  const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(from + column - 1, from + (lines[line - 1]?.length ?? 0));
}

function Problems() {
  const t = e.t.value;
  const found = e.problems.value;
  if (!found.length) return html`<p class="ok"><${Icon} name="tick" /> ${t("edit.fine")}</p>`;
  return html`<ul class="problems">
    ${found.map(
      (one, i) =>
        html`<li key=${i}>
          <button type="button" class="jump" onClick=${() => show(one)}>
            ${t("edit.place", { line: one.line, column: one.column })}</button
          >${" "}${one.sentence}
        </li>`,
    )}
  </ul>`;
}

const save = () =>
  e.during(async () => {
    await e.settled();
    if (!e.readable.value) throw new Error(e.t.value("edit.unsaved"));
    const url = await linkOf(e.text.value);
    let copied = true;
    try {
      await navigator.clipboard.writeText(url);
    } catch {
      copied = false;
    }
    e.notice.value = {
      kind: "ok",
      text: e.t.value(copied ? "save.copied" : "save.done"),
      link: url,
    };
  });

function downloadText() {
  const name = (e.doc.value?.title ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60);
  download(new Blob([e.text.value], { type: "application/yaml" }), `${name || "scenario"}.yaml`);
}

function Acts() {
  const t = e.t.value;
  const off = !e.readable.value || e.busy.value;
  const note = e.notice.value;
  return html`<button type="button" class="btn primary" disabled=${off} onClick=${() => attempt()}>
      <${Icon} name="play" />${t("edit.try")}
    </button>
    <button type="button" class="btn" disabled=${off} onClick=${save}>
      <${Icon} name="save" />${t("edit.save")}
    </button>
    <button type="button" class="btn" onClick=${downloadText}>${t("edit.download")}</button>
    <button type="button" class="btn quiet" disabled=${!e.canUndo.value} onClick=${e.undo}>
      ${t("edit.undo")}
    </button>
    <button type="button" class="btn quiet" disabled=${!e.canRedo.value} onClick=${e.redo}>
      ${t("edit.redo")}
    </button>
    ${
      note &&
      html`<p class=${`bar ${note.kind}`} role="status">
        <span class="grow"
          >${note.text} ${note.link && html`<a href=${note.link}>${note.link}</a>`}</span
        >
      </p>`
    }`;
}

start();
