// The deck: what is known of each topic, sessions, and what this browser keeps as a file.
// Without this script every card can be opened from the list of its topic.

import { at, download, every, field, first, linkAt } from "../core/dom.js";
import { placed } from "../core/place.js";
import { fill } from "../i18n/words.js";
import { tell } from "./calibration.js";
import { answers, lastAnswers, sureAndWrong } from "./store/answers.js";
import * as carried from "./store/backup_file.js";
import * as memory from "./store/memory.js";
import * as sessions from "./store/session.js";

const links = /** @type {HTMLAnchorElement[]} */ (every("[data-card]"));
const deck = links.map((link) => {
  const { card, kind, level, right } = link.dataset;
  const { topic } = /** @type {HTMLElement} */ (link.closest("[data-topic]")).dataset;
  const about = { id: card, href: link.getAttribute("href"), kind, topic, level: Number(level) };
  return right === undefined ? about : { ...about, right: right === "1" };
});

/** Due cards that are not of the deck: scenes of the course, questions about other runs. */
const others = (cards, now) =>
  memory
    .due(cards, now)
    .filter(([id]) => !deck.some((card) => card.id === id))
    .map(([id, { href }]) => ({ id, href, kind: "prediction" }));

function begin(name) {
  const now = Date.now();
  const cards = memory.cards();
  const last = lastAnswers(answers());
  const wrong = [...last].filter(([, one]) => !one.right).map(([id]) => id);
  const topic = deck.filter((card) => card.topic === name);
  const all = topic.length ? topic : [...others(cards, now), ...deck];
  const before = name === "ten" || topic.length ? [] : wrong;
  const order = sessions.ordered(all, cards, memory.endOfDay(now), before);
  const asked = name === "mock" ? sessions.interview(order) : sessions.session(order);
  const minutes = sessions.MINUTES[name] ?? sessions.MINUTES.ten;
  const chosen = asked.map(({ id, href }) => ({ id, href }));
  sessions.keep({ name, cards: chosen, until: now + minutes * 60_000, done: {} });
  location.assign(placed(chosen[0].href));
}

/** How many cards of each topic were answered rightly the last time. */
function showKnown(last) {
  for (const topic of every("[data-topic]")) {
    const cards = every("[data-card]", topic);
    const known = cards.filter((link) => last.get(link.dataset.card)?.right);
    for (const link of cards) {
      link.classList.toggle("done", known.includes(link));
      link.classList.toggle("wrong", last.get(link.dataset.card)?.right === false);
    }
    topic.querySelector("progress").value = known.length;
    const said = /** @type {HTMLElement} */ (topic.querySelector(".known"));
    if (cards.some((link) => last.has(link.dataset.card)))
      said.textContent = fill(said.dataset.text, { n: known.length, of: cards.length });
  }
}

function showDue() {
  const cards = memory.cards();
  const waiting = memory.due(cards, Date.now()).length;
  const coming = memory.next(cards);
  const box = at("due");
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" });
  const said = waiting ? box.dataset.some : coming ? box.dataset.later : box.dataset.none;
  box.textContent = fill(said, { n: waiting, day: coming ? day.format(coming) : "" });
  field("memorysave").disabled = coming === null && answers().length === 0;
}

const listed = ({ href, text }) => {
  const row = document.createElement("li");
  row.append(Object.assign(document.createElement("a"), { href: placed(href), textContent: text }));
  return row;
};

function showSure(all) {
  tell(at("calibration"), all);
  const lost = sureAndWrong(all).slice(0, 3);
  at("surewrong").hidden = !lost.length;
  first("#surewrong ol").replaceChildren(...lost.map(listed));
}

/** The end of a session: how much was right, and what to look at again. */
function showDone() {
  const session = location.hash === "#done" ? sessions.load() : null;
  const done = Object.entries(session?.done ?? {});
  at("card").hidden = !done.length;
  if (!done.length) return;
  const missed = done.filter(([, { share }]) => share < 1);
  const good = done.filter(([, { share }]) => share >= sessions.GOOD).length;
  at("sum").textContent = fill(at("sum").dataset.text, { n: good, of: done.length });
  at("missedcards").replaceChildren(...missed.map(([, one]) => listed(one)));
  const only = missed.map(([id]) => id).filter((id) => /^Q\d+$/.test(id));
  linkAt("sheet").href = placed(`/practice/sheet?only=${only.join(",")}`);
  linkAt("sheet").hidden = !only.length;
  at("cardtitle").focus();
}

function showAll() {
  const all = answers();
  showKnown(lastAnswers(all));
  showDue();
  showSure(all);
  every('#begin [value="gaps"]')[0].hidden = all.every((one) => one.right);
}

function save() {
  const file = new Blob([carried.written()], { type: "application/json" });
  download(file, "highwater-memory.json");
}

async function load(event) {
  const [file] = event.target.files;
  if (!file) return;
  const { bad, full, done } = at("memorytold").dataset;
  const found = file.size > memory.MOST_BYTES ? null : carried.read(await file.text());
  event.target.value = "";
  const counts = {
    n: Object.keys(found?.cards ?? {}).length,
    answers: found?.answers?.length ?? 0,
  };
  const kept = found && carried.keep(found);
  at("memorytold").textContent = !found ? bad : kept ? fill(done, counts) : full;
  showAll();
}

/** Addresses of earlier pages named a question, or the course, behind the #. */
function moved() {
  const [, question] = /^#(Q\d+)$/.exec(location.hash) ?? [];
  if (question) location.replace(placed(`/practice/${question}`));
  if (location.hash === "#course") location.replace(placed("/course"));
}

moved();
showAll();
showDone();
at("begin").hidden = false;
for (const button of /** @type {HTMLButtonElement[]} */ (every("#begin button, .topic button"))) {
  button.addEventListener("click", () => begin(button.value));
  if (button.closest(".topic")) button.hidden = false;
}
at("memorysave").addEventListener("click", save);
at("memoryload").addEventListener("change", load);
addEventListener("hashchange", showDone);
document.body.dataset.ready = "1";
