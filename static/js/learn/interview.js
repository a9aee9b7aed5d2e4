// Interview questions: ticks are kept here; a mock interview draws eight of them and asks on.
// Without this script every question still opens, and its answer can be read.

import "./memory.js";

import { at, copyOf, every as all, fields, linkAt, where } from "../core/dom.js";
import { tell } from "./calibration.js";
import { drawn, GOOD, missed, next } from "./mock.js";
import { answered } from "./store/answers.js";
import { isSure } from "./store/calibration.js";

const KEY = "highwater.interview";
const MINUTES = 25;

const every = /** @type {HTMLDetailsElement[]} */ (all(".question"));
const pointsOf = (question) => question.querySelector(".points");
const boxes = (question) => fields('input[type="checkbox"]', question);

/** {question: share of the facts that were ticked last, 0 to 1} */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

function keep(known) {
  try {
    localStorage.setItem(KEY, JSON.stringify(known));
  } catch {
    // Nothing is remembered; the page works all the same.
  }
}

const known = kept();

const share = (question) =>
  boxes(question).filter((box) => box.checked).length / boxes(question).length;

function note(question) {
  known[question.id] = share(question);
  keep(known);
}

let mock = null; // {ids, turns, turn, until, ticking, homes, shown}

const byId = (id) => every.find((one) => one.id === id);
function begin() {
  const all = every.map((one) => ({
    id: one.id,
    level: Number(one.dataset.level),
    share: known[one.id] ?? null,
  }));
  const homes = new Map();
  mock = { ids: drawn(all), turns: [], homes, until: Date.now() + MINUTES * 60_000 };
  mock.ticking = setInterval(clock, 1000);
  at("all").hidden = true;
  at("card").hidden = true;
  at("room").hidden = false;
  ask();
}

/** A question is moved into the room, and back to its place at the end. */
function taken(id) {
  const question = byId(id);
  if (!mock.homes.has(id)) {
    const home = document.createComment("");
    question.before(home);
    mock.homes.set(id, home);
    for (const box of boxes(question)) box.checked = false;
  }
  question.open = false;
  pointsOf(question).open = false;
  return question;
}

/** What a question asks next, as a question of its own with one fact: its answer. */
function followUp(id) {
  const question = byId(id);
  const one = copyOf("following");
  one.querySelector("h3").textContent = question.querySelector(".followed").textContent;
  one.querySelector(".fact span").textContent = question.querySelector(".followanswer").textContent;
  return one;
}

function ask() {
  mock.turn = next(mock.turns, mock.ids, (id) => byId(id).dataset.then);
  if (!mock.turn) {
    end();
    return;
  }
  const { id, part, main } = mock.turn;
  mock.shown = part === "follow" ? followUp(id) : taken(id);
  at("held").replaceChildren(mock.shown, copyOf("writing"));
  const { at: first, follow, deeper } = at("room").dataset;
  const words = { main: first, follow, deeper }[part];
  at("at").textContent = words.replace("{n}", main + 1).replace("{total}", mock.ids.length);
  shown(false);
  for (const box of sureness()) Object.assign(box, { checked: false, disabled: false });
  clock();
  at("roomtitle").focus();
}

const sureness = () => fields(".sure input", at("room"));

/** The button that comes next stands out: first the answer, then the next question. */
function shown(it) {
  at("reveal").hidden = it;
  at("onward").classList.toggle("primary", it);
}

/** How sure one was counts as it was said before the answer stood there. */
function reveal() {
  for (const box of sureness()) box.disabled = true;
  if (mock.turn.part === "follow") mock.shown.querySelector("fieldset").hidden = false;
  else for (const one of [mock.shown, pointsOf(mock.shown)]) one.open = true;
  shown(true);
  boxes(mock.shown)[0].focus({ preventScroll: true });
}

function clock() {
  const left = Math.max(0, Math.round((mock.until - Date.now()) / 1000));
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  const { left: words, over } = at("room").dataset;
  at("clock").textContent = left ? words.replace("{time}", time) : over;
}

function onward() {
  const all = boxes(mock.shown);
  const had = all.filter((box) => box.checked).length;
  const words = mock.shown.querySelector(".asked, h3").textContent;
  const sure = Number(sureness().find((box) => box.checked)?.value ?? 0);
  mock.turns.push({ ...mock.turn, share: share(mock.shown), had, all: all.length, words, sure });
  if (mock.turn.part !== "follow") note(mock.shown);
  if (Date.now() < mock.until) ask();
  else end();
}

function end() {
  clearInterval(mock.ticking);
  const { turns, homes } = mock;
  for (const [id, home] of homes) {
    for (const one of [byId(id), pointsOf(byId(id))]) one.open = false;
    home.replaceWith(byId(id));
  }
  const rows = turns.map((turn) => {
    const row = document.createElement("tr");
    row.className = turn.part;
    for (const text of [turn.words, `${turn.had} / ${turn.all}`])
      row.append(Object.assign(document.createElement("td"), { textContent: text }));
    return row;
  });
  const sum = (name) => turns.reduce((all, turn) => all + turn[name], 0);
  at("rows").replaceChildren(...rows);
  at("sum").textContent = at("card")
    .dataset.sum.replace("{had}", sum("had"))
    .replace("{all}", sum("all"));
  showSure(turns.map((turn) => ({ ...turn, right: turn.share >= GOOD })));
  const ids = missed(turns);
  at("missed").textContent = at("card").dataset[ids.length ? "missed" : "all"];
  linkAt("missed").href = `/interview/sheet${ids.length ? `?only=${ids.join(",")}` : ""}`;
  at("held").replaceChildren();
  at("room").hidden = true;
  for (const id of ["all", "card"]) at(id).hidden = false;
  at("cardtitle").focus();
  mock = null;
}

/** Beside what was right; and it is remembered with all other answers. */
function showSure(turns) {
  tell(at("calibration"), turns);
  at("halfright").hidden = at("calibration").hidden;
  for (const { id, part, right, sure } of turns)
    if (isSure(sure)) answered({ probe: `${id} ${part}`, kind: "interview", right, ids: [], sure });
}

at("mock").hidden = false;
at("mock").addEventListener("click", begin);
at("reveal").addEventListener("click", reveal);
at("onward").addEventListener("click", onward);
at("stop").addEventListener("click", end);
at("print").onclick = () => print();
addEventListener("change", (event) => {
  const question = where(event).closest(".question");
  if (question && !mock) note(question);
});
/** A question that the address names opens. */
function named() {
  const question = every.find((one) => `#${one.id}` === location.hash);
  if (!question || mock) return;
  question.open = true;
  question.scrollIntoView();
}

named();
addEventListener("hashchange", named);
document.body.dataset.ready = "1";
