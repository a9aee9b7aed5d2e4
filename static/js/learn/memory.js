// What this browser remembers of answers, and what of it is due: on the questions' pages and the
// interview's.  Without this script everything can be asked and answered, and nothing comes back.

import * as fsrs from "ts-fsrs";

import { at, copyOf, every, field, first } from "../core/dom.js";
import { answers, unanswered } from "./store/answers.js";
import * as carried from "./store/backup_file.js";
import { GUESS } from "./store/calibration.js";
import * as memory from "./store/memory.js";

const GRADES = ["again", "hard", "good", "easy"];

function remember(id, href, text, grade) {
  const now = Date.now();
  const all = memory.cards();
  const card = all[id] ?? { reps: 0 };
  if (!memory.counts(card, now)) return false;
  const asked = { ...card, href, text: text.trim().slice(0, 600) };
  return memory.keep({ ...all, [id]: memory.reviewed(fsrs, asked, grade, now) });
}

/** A question that the page has judged: right is good, a lucky guess is hard, wrong begins anew. */
function noteAnswer() {
  const article = first(".ask[data-right]");
  const question = at("question");
  if (!article || !question) return;
  const sure = Number(new URLSearchParams(location.search).get("sure"));
  const right = sure === GUESS ? 2 : 3;
  const asked = unanswered(location.search);
  const chapter = first(".chapter");
  if (!chapter) {
    // What stands on the path is asked by its run, wherever the path goes later.
    asked.delete("n");
    if (!asked.get("q")) asked.set("q", article.dataset.probe);
  }
  const parts = ["s", "run", "profile", "q"].map((part) => asked.get(part) ?? "");
  const id = chapter ? `${chapter.dataset.slug} ${chapter.dataset.scene}` : parts.join(" ");
  const href = chapter ? location.pathname : `${location.pathname}?${asked}`;
  remember(id, href, question.textContent, article.dataset.right === "1" ? right : 1);
}

function showDue() {
  const box = at("due");
  if (!box) return;
  const now = Date.now();
  const all = memory.cards();
  const waiting = memory.due(all, now).slice(0, memory.TEN);
  const coming = memory.next(all);
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" });
  const said = waiting.length ? box.dataset.some : coming ? box.dataset.later : box.dataset.none;
  at("duesaid").textContent = said
    .replace("{n}", String(waiting.length))
    .replace("{day}", coming ? day.format(coming) : "");
  at("duelist").replaceChildren(
    ...waiting.map(([, card]) => {
      const link = Object.assign(document.createElement("a"), { href: card.href });
      link.textContent = card.text;
      const row = document.createElement("li");
      row.append(link);
      return row;
    }),
  );
  field("memorysave").disabled = coming === null && answers().length === 0;
  box.hidden = false;
}

function save() {
  const file = new Blob([carried.written()], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "highwater-memory.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function load(event) {
  const [file] = event.target.files;
  if (!file) return;
  const told = at("memorytold");
  const found = file.size > memory.MOST_BYTES ? null : carried.read(await file.text());
  event.target.value = "";
  if (!found) told.textContent = told.dataset.bad;
  else if (!carried.keep(found)) told.textContent = told.dataset.full;
  else
    told.textContent = told.dataset.done
      .replace("{n}", String(Object.keys(found.cards).length))
      .replace("{answers}", String(found.answers?.length ?? 0));
  showDue();
  dispatchEvent(new Event("highwater:loaded"));
}

/** Four buttons under an interview question: how well it was known, and when it comes back. */
function grading(question) {
  const words = at("grading");
  const set = copyOf("grading");
  const now = Date.now();
  const all = memory.cards();
  const href = `/interview#${question.id}`;
  const days = memory.outlook(fsrs, all[question.id] ?? { reps: 0 }, now);
  const said = set.querySelector("[role=status]");
  set.querySelectorAll("button").forEach((button, i) => {
    button.querySelector(".soft").textContent = words.dataset.days.replace("{n}", String(days[i]));
    button.addEventListener("click", () => {
      const text = question.querySelector(".asked").textContent;
      const counted = remember(question.id, href, text, GRADES.indexOf(button.value) + 1);
      said.textContent = counted
        ? words.dataset.noted.replace("{n}", String(days[i]))
        : words.dataset.early;
    });
  });
  return set;
}

function opened(question) {
  if (question.open && !question.querySelector(".grading")) question.append(grading(question));
}

noteAnswer();
showDue();
at("memorysave")?.addEventListener("click", save);
at("memoryload")?.addEventListener("change", load);
if (at("grading")) {
  for (const one of every(".question")) {
    one.addEventListener("toggle", () => opened(one));
    opened(one); // An address may have opened it before.
  }
}
document.body.dataset.memory = "1";
