// Batches of a page without a server: seeds on as many workers as the machine has processors.

import { at, formAt } from "../core/dom.js";
import { placed } from "../core/place.js";
import { count } from "../site/seeds.js";
import { exact } from "./binomial.js";

const { t, lang, engine } = globalThis.highwaterSite;
const WORKERS_MOST = 8;
const form = formAt("seeds");
const workers = Math.min(WORKERS_MOST, navigator.hardwareConcurrency || 2);
const engines = [];
let going = null;

const asked = () => {
  const fields = new FormData(form);
  return {
    scenario: String(fields.get("scenario")),
    runs: Number(fields.get("runs")),
    profiles: fields.getAll("profile").map(String),
  };
};

const labelOf = (profile) =>
  form.querySelector(`[name=profile][value="${profile}"]`).parentElement.textContent.trim();
const percent = (share) =>
  share.toLocaleString(lang, { style: "percent", maximumSignificantDigits: 3 });

function cell(row, kind, content) {
  const made = row.appendChild(document.createElement(kind));
  made.append(content);
}

function link(scenario, profile, [seed, step]) {
  const made = document.createElement("a");
  made.href = placed(`/s/${scenario}?profile=${profile}&seed=${seed}&step=${step}`);
  made.textContent = t("folder.batch.seed", { seed });
  return made;
}

/** A row for each profile: runs, those that lost a promised record, the interval, those that
 *  lost only what nothing promised, the first failing run. */
function draw(scenario, counts) {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of ["profile", "runs", "lost", "interval", "gone", "first"])
    cell(head, "th", t(`folder.batch.${name}`));
  const body = table.createTBody();
  for (const [profile, one] of counts) {
    const row = body.insertRow();
    row.dataset.counts = JSON.stringify(one);
    const { I7: lost = 0, gone = 0 } = one.broken;
    const [low, high] = one.runs ? exact(lost, one.runs) : [0, 1];
    const first =
      one.first.I7 ?? one.first.gone ?? Object.values(one.first).sort((a, b) => a[0] - b[0])[0];
    cell(row, "th", labelOf(profile));
    cell(row, "td", one.runs.toLocaleString(lang));
    cell(row, "td", lost.toLocaleString(lang));
    cell(row, "td", `${percent(low)} – ${percent(high)}`);
    cell(row, "td", gone.toLocaleString(lang));
    cell(row, "td", first ? link(scenario, profile, first) : "–");
  }
  at("table").replaceChildren(table);
}

function say() {
  const { scenario, runs, profiles } = asked();
  at("command").textContent =
    `highwater batch ${scenario} --runs ${runs} --kafka ${profiles.join(",")}`;
}

async function start() {
  const { scenario, runs, profiles } = asked();
  if (!profiles.length) return;
  const total = runs * profiles.length;
  const bar = /** @type {HTMLProgressElement} */ (at("done"));
  going = new AbortController();
  at("stop").hidden = bar.hidden = false;
  /** @type {HTMLButtonElement} */ (at("go")).disabled = true;
  while (engines.length < workers) engines.push(engine());
  const began = performance.now();
  const told = (key, done) => {
    const s = Math.max(0.1, (performance.now() - began) / 1000).toFixed(1);
    at("told").textContent = t(key, { done: done.toLocaleString(lang), s, workers });
  };
  let last = 0;
  try {
    const heard = (counts, done) => {
      last = done;
      bar.value = done / total;
      told("folder.batch.playing", done);
      draw(scenario, counts);
    };
    const { signal } = going;
    const how = { scenario, profiles, runs, lang, engines, signal, heard };
    await count(how);
    told(signal.aborted ? "folder.batch.stopped" : "folder.batch.ended", last);
  } catch (problem) {
    at("told").textContent = problem.message.startsWith("folder.")
      ? t(problem.message)
      : problem.message;
  }
  going = null;
  at("stop").hidden = bar.hidden = true;
  /** @type {HTMLButtonElement} */ (at("go")).disabled = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!going) start();
});
form.addEventListener("input", say);
at("stop").addEventListener("click", () => going?.abort());
const wanted = new URLSearchParams(location.search).get("scenario");
const field = /** @type {HTMLSelectElement} */ (form.elements.namedItem("scenario"));
if (wanted && [...field.options].some((one) => one.value === wanted)) field.value = wanted;
say();
document.body.dataset.ready = "1";
