// The library works without this script; with it, cards are found and ranked as one types, and what
// this browser remembers is shown.

import * as visits from "../animator/visits.js";
import { at, download, every, field, fields, formAt, linkAt } from "../core/dom.js";
import { MOST_BYTES, read, written } from "../core/runs_file.js";
import { answerWhileTyping } from "../find/finding.js";
import { fill } from "../i18n/words.js";

const cards = every(".card");
const form = formAt("filters");

function asked() {
  const fields = new FormData(form);
  return {
    query: String(fields.get("q")).trim(),
    tags: fields.getAll("tag").map(String),
    difficulty: String(fields.get("difficulty")),
    profile: String(fields.get("profile")),
    loss: fields.has("end"),
  };
}

const places = new Map(cards.map((card) => [card, card.parentElement]));

/** Slugs that match the query, best first, as the server has told with its answers; all without. */
function matching(query) {
  const told = at("others").querySelector("[data-slugs]");
  if (!query || !(told instanceof HTMLElement)) return cards.map((card) => card.dataset.slug);
  return told.dataset.slugs.split(" ");
}

function show() {
  const { query, tags, difficulty, profile, loss } = asked();
  const slugs = matching(query);
  let shown = 0;
  for (const card of cards) {
    const { tags: mine, profiles, difficulty: level, lost } = card.dataset;
    const fits =
      slugs.includes(card.dataset.slug) &&
      (!tags.length || tags.some((tag) => mine.split(" ").includes(tag))) &&
      (!difficulty || difficulty === level) &&
      (!profile || profiles.split(" ").includes(profile)) &&
      (!loss || (profile ? lost.split(" ").includes(profile) : lost !== ""));
    card.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  const rank = (card) => slugs.indexOf(card.dataset.slug);
  for (const card of cards.filter((one) => !one.hidden).sort((a, b) => rank(a) - rank(b)))
    places.get(card).append(card);
  for (const id of ["all", "museum"]) {
    const section = at(id)?.closest("section");
    if (section) section.hidden = !section.querySelector(".card:not([hidden])");
  }
  at("nothing").hidden = shown > 0;
  at("found").textContent = fill(at("found").dataset.text, { n: shown });
  if (!shown) {
    linkAt("methods").href = `/code?q=${encodeURIComponent(query.slice(0, 80))}`;
    linkAt("build").href = `/edit?title=${encodeURIComponent(query.slice(0, 80))}`;
  }
}

/** A Kafka as the menu of the page calls it. */
const kafka = (name) =>
  [.../** @type {HTMLSelectElement} */ (at("profile")).options].find((one) => one.value === name)
    ?.textContent ?? name;

function row(run, told) {
  const li = document.createElement("li");
  const link = document.createElement("a");
  link.href = run.url;
  link.textContent = run.title;
  const rest = document.createElement("span");
  rest.className = "soft";
  rest.textContent = [kafka(run.profile), run.move, run.step ? fill(told, { n: run.step }) : ""]
    .filter(Boolean)
    .join(" · ");
  li.append(link, rest);
  return li;
}

function remember() {
  const runs = visits
    .runs()
    .filter((run) => typeof run?.url === "string" && run.url.startsWith("/"));
  const told = at("runs").dataset.step;
  const saved = runs.filter((run) => run.saved);
  at("runs").replaceChildren(...runs.map((run) => row(run, told)));
  for (const id of ["runs", "forget", "runssave"]) at(id).hidden = runs.length === 0;
  at("noruns").hidden = runs.length > 0;
  at("saved").append(...saved.map((run) => row(run, told)));
  if (saved.length) {
    at("saved").hidden = false;
    at("noshared")?.remove();
  }
}

form.addEventListener("change", show);
answerWhileTyping(field("find"), at("others"), { more: "&shelf=1", then: show });
form.addEventListener("submit", (event) => {
  event.preventDefault();
});
at("clear").addEventListener("click", (event) => {
  event.preventDefault();
  form.reset();
  field("find").value = "";
  for (const box of fields("input:checked", form)) box.checked = false;
  for (const list of form.querySelectorAll("select")) list.value = "";
  at("others").replaceChildren();
  show();
});
at("forget").addEventListener("click", () => {
  visits.forgetRuns();
  for (const li of [...at("runs").children]) li.remove();
  remember();
});
at("runssave").addEventListener("click", async () => {
  const file = new Blob([await written(visits.runs())], { type: "application/json" });
  download(file, "highwater-runs.json");
});
field("runsload").addEventListener("change", async ({ target }) => {
  const [file] = /** @type {HTMLInputElement} */ (target).files;
  if (!file) return;
  const found = file.size > MOST_BYTES ? null : await read(await file.text());
  /** @type {HTMLInputElement} */ (target).value = "";
  const kept = (found ?? []).reverse().filter((run) => visits.keep(run)).length;
  const { bad, done } = at("runstold").dataset;
  at("runstold").textContent = found ? fill(done, { n: kept, all: found.length }) : bad;
  remember();
});
at("go").hidden = true;
remember();
show();
document.body.dataset.ready = "1";
