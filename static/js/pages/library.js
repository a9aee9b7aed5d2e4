// The library works without this script; with it, cards are found as one types, and what this
// browser remembers is shown.

import * as visits from "../animator/visits.js";
import { nearest } from "../core/nearest.js";
import { at, every, field, fields, formAt, linkAt } from "./found.js";

const cards = every(".card");
/** What a card says, and the code that those who know it look for. */
const told = (card) => `${card.dataset.code} ${card.textContent}`.toLowerCase();
const texts = new Map(cards.map((card) => [card, told(card)]));
const vocabulary = [
  ...new Set([...texts.values()].flatMap((text) => text.match(/[\p{L}\p{N}.]+/gu) ?? [])),
].filter((word) => word.length > 2);
const form = formAt("filters");

function asked() {
  const fields = new FormData(form);
  return {
    words: String(fields.get("q")).toLowerCase().split(/\s+/).filter(Boolean),
    tags: fields.getAll("tag").map(String),
    difficulty: String(fields.get("difficulty")),
    profile: String(fields.get("profile")),
    loss: fields.has("end"),
  };
}

const OF_KAFKA = /[a-z][A-Z]|^(?:KIP|KAFKA)-\d+$/;
const acting = new Map(); // what was asked of Kafka's code -> the scenarios in which it acts

/** The scenarios in which a method, class, KIP or JIRA number acts; the first time they come
 *  later. */
function runsOf(question) {
  if (!OF_KAFKA.test(question)) return [];
  if (!acting.has(question)) {
    acting.set(question, []);
    fetch(`/api/lens/runs.json?q=${encodeURIComponent(question.slice(0, 80))}`)
      .then((answer) => answer.json())
      .then(({ scenarios }) => {
        acting.set(question, scenarios);
        if (scenarios.length) show();
      })
      .catch(() => acting.delete(question));
  }
  return acting.get(question);
}

function show() {
  const runs = runsOf(field("find").value.trim());
  const { words, tags, difficulty, profile, loss } = asked();
  let shown = 0;
  for (const card of cards) {
    const { tags: mine, profiles, difficulty: level, lost } = card.dataset;
    const fits =
      (words.every((w) => texts.get(card).includes(w)) || runs.includes(card.dataset.slug)) &&
      (!tags.length || tags.some((tag) => mine.split(" ").includes(tag))) &&
      (!difficulty || difficulty === level) &&
      (!profile || profiles.split(" ").includes(profile)) &&
      (!loss || (profile ? lost.split(" ").includes(profile) : lost !== ""));
    card.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  for (const id of ["all", "museum"]) {
    const section = at(id)?.closest("section");
    if (section) section.hidden = !section.querySelector(".card:not([hidden])");
  }
  at("nothing").hidden = shown > 0;
  at("found").textContent = at("found").dataset.text.replace("{n}", String(shown));
  if (!shown) suggest(words.join(" "));
}

/** Nothing has these words: the nearest ones, and the way to build it. */
function suggest(query) {
  const near = at("near");
  const words = nearest(query, vocabulary);
  near.replaceChildren(
    ...(words.length ? [`${near.dataset.text} `] : []),
    ...words.flatMap((word) => [pick(word), " "]),
  );
  linkAt("methods").href = `/code?q=${encodeURIComponent(field("find").value.slice(0, 80))}`;
  linkAt("build").href = `/edit?title=${encodeURIComponent(field("find").value.slice(0, 80))}`;
}

function pick(word) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip";
  button.textContent = word;
  button.addEventListener("click", () => {
    field("find").value = word;
    field("find").focus();
    show();
  });
  return button;
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
  rest.textContent = [kafka(run.profile), run.move, run.step ? told.replace("{n}", run.step) : ""]
    .filter(Boolean)
    .join(" · ");
  li.append(link, rest);
  return li;
}

function remember() {
  const runs = visits
    .runs()
    .filter((run) => typeof run.url === "string" && run.url.startsWith("/"));
  const told = at("runs").dataset.step;
  const saved = runs.filter((run) => run.saved);
  at("runs").replaceChildren(...runs.map((run) => row(run, told)));
  at("runs").hidden = at("forget").hidden = runs.length === 0;
  at("noruns").hidden = runs.length > 0;
  at("saved").append(...saved.map((run) => row(run, told)));
  if (saved.length) {
    at("saved").hidden = false;
    at("noshared")?.remove();
  }
}

form.addEventListener("input", show);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
at("clear").addEventListener("click", (event) => {
  event.preventDefault();
  form.reset();
  field("find").value = "";
  for (const box of fields("input:checked", form)) box.checked = false;
  for (const list of form.querySelectorAll("select")) list.value = "";
  show();
});
at("forget").addEventListener("click", () => {
  visits.forgetRuns();
  for (const li of [...at("runs").children]) li.remove();
  remember();
});
at("go").hidden = true;
remember();
show();
document.body.dataset.ready = "1";
