// Interview questions: ticks are remembered here; a mock interview draws eight of them.
// Without this script every question still opens, and its answer can be read.

const KEY = "highwater.interview";
const MINUTES = 25;
const DRAWN = [1, 1, 1, 2, 2, 2, 3, 3];

const at = (id) => document.getElementById(id);
const every = [...document.querySelectorAll(".question")];
const boxes = (question) => [...question.querySelectorAll('input[type="checkbox"]')];

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

function share(question) {
  const all = boxes(question);
  return all.filter((box) => box.checked).length / all.length;
}

function note(question) {
  known[question.id] = share(question);
  keep(known);
}

/** Eight questions by level; what was missed before comes first, then what was never asked. */
function drawn() {
  const weight = (question) => (known[question.id] ?? 0.5) + Math.random() * 0.6;
  const left = every
    .map((question) => ({ question, weight: weight(question) }))
    .sort((a, b) => a.weight - b.weight);
  return DRAWN.map((level) => {
    const i = left.findIndex((one) => Number(one.question.dataset.level) === level);
    return left.splice(i, 1)[0].question;
  });
}

let mock = null; // {list, n, until, ticking, homes}

function begin() {
  const list = drawn();
  const homes = list.map((question) => {
    const home = document.createComment("");
    question.before(home);
    return home;
  });
  mock = { list, homes, n: 0, until: Date.now() + MINUTES * 60_000, ticking: 0 };
  for (const question of list) for (const box of boxes(question)) box.checked = false;
  mock.ticking = setInterval(clock, 1000);
  at("all").hidden = true;
  at("card").hidden = true;
  at("room").hidden = false;
  ask();
}

function ask() {
  const question = mock.list[mock.n];
  question.open = false;
  at("held").replaceChildren(question, at("writing").content.cloneNode(true));
  at("at").textContent = at("room")
    .dataset.at.replace("{n}", mock.n + 1)
    .replace("{total}", mock.list.length);
  at("reveal").hidden = false;
  clock();
  at("roomtitle").focus();
}

function clock() {
  const left = Math.max(0, Math.round((mock.until - Date.now()) / 1000));
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  const { left: words, over } = at("room").dataset;
  at("clock").textContent = left ? words.replace("{time}", time) : over;
}

function onward() {
  note(mock.list[mock.n]);
  mock.n += 1;
  if (mock.n < mock.list.length && Date.now() < mock.until) ask();
  else end();
}

function end() {
  clearInterval(mock.ticking);
  const asked = mock.list.slice(0, mock.n);
  const rows = asked.map((question) => {
    const row = document.createElement("tr");
    const had = boxes(question).filter((box) => box.checked).length;
    const cells = [
      question.querySelector(".asked").textContent,
      `${had} / ${boxes(question).length}`,
    ];
    for (const text of cells)
      row.append(Object.assign(document.createElement("td"), { textContent: text }));
    return row;
  });
  mock.list.forEach((question, i) => mock.homes[i].replaceWith(question));
  const all = asked.flatMap(boxes);
  const had = all.filter((box) => box.checked).length;
  at("rows").replaceChildren(...rows);
  at("sum").textContent = at("card").dataset.sum.replace("{had}", had).replace("{all}", all.length);
  const missed = asked.filter((question) => share(question) < 1).map((question) => question.id);
  at("missed").href = `/interview/sheet${missed.length ? `?only=${missed.join(",")}` : ""}`;
  at("room").hidden = true;
  at("all").hidden = false;
  at("card").hidden = false;
  at("cardtitle").focus();
  mock = null;
}

at("mock").hidden = false;
at("mock").addEventListener("click", begin);
at("reveal").addEventListener("click", () => {
  mock.list[mock.n].open = true;
  at("reveal").hidden = true;
});
at("onward").addEventListener("click", onward);
at("stop").addEventListener("click", end);
at("print").addEventListener("click", () => print());
addEventListener("change", (event) => {
  const question = event.target.closest(".question");
  if (question && !mock) note(question);
});
if (location.hash) {
  const named = every.find((question) => `#${question.id}` === location.hash);
  if (named) {
    named.open = true;
    named.scrollIntoView();
  }
}
document.body.dataset.ready = "1";
