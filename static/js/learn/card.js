// A card of the deck, or a scene of a chapter: answers by key, what this browser remembers of them,
// and the session that the card is part of.  Without this script one clicks, and nothing is kept.

import * as fsrs from "ts-fsrs";

import { at, every, fields, first, linkAt, where } from "../core/dom.js";
import { placed } from "../core/place.js";
import { fill } from "../i18n/words.js";
import { sayBy } from "./calibration.js";
import { answered, unanswered } from "./store/answers.js";
import { GUESS, isSure } from "./store/calibration.js";
import { noteScene, progress as course } from "./store/course.js";
import * as memory from "./store/memory.js";
import * as sessions from "./store/session.js";

const article = first("[data-card], .ask");
const chapter = first(".chapter");
const points = /** @type {HTMLDetailsElement | null} */ (first("[data-card] > .points"));
const id = chapter ? `${chapter.dataset.slug} ${chapter.dataset.scene}` : article?.dataset.card;
const text = at("question")?.textContent.trim() ?? "";
const asked = new URLSearchParams(location.search);

/** The address of this card, without what was answered. */
function href() {
  const left = String(unanswered(location.search));
  return location.pathname + (left ? `?${left}` : "");
}

const said = () => Number(asked.get("sure") ?? fields(".sure input:checked")[0]?.value ?? 0);

/** Remembers an answer: `share` of it was right, and how well it is known, from 1 to 3. */
function note(share, grade) {
  const now = Date.now();
  const cards = memory.cards();
  const card = cards[id] ?? { reps: 0 };
  if (memory.counts(card, now)) {
    const kept = { ...card, href: href(), text: text.slice(0, 600) };
    memory.keep({ ...cards, [id]: memory.reviewed(fsrs, kept, grade, now) });
  }
  const { probe = "", kind = "", given = "", ids = "" } = article.dataset;
  answered({
    run: asked.get("run") ?? asked.get("s") ?? chapter?.dataset.slug ?? "",
    profile: asked.get("profile") ?? "",
    probe: probe || id,
    card: id,
    kind,
    given,
    right: share >= sessions.GOOD,
    ids: ids.split(" ").filter(Boolean),
    sure: isSure(said()) ? said() : undefined,
    href: href(),
    text,
  });
  const session = sessions.load();
  if (!session?.cards.some((one) => one.id === id)) return;
  session.done[id] = { text, share, href: href() };
  const then = article.dataset.then;
  sessions.keep(sessions.deepened(session, id, { id: then, href: `/practice/${then}` }));
}

/** What the page has judged: right is good, a lucky guess is hard, wrong begins again.  A page that
 *  is loaded again is the same answer. */
function noteAnswer() {
  const key = `highwater.seen ${id} ${asked}`;
  if (article?.dataset.right === undefined) return;
  at("verdict").focus({ preventScroll: true });
  if (sessionStorage.getItem(key)) return;
  sessionStorage.setItem(key, "1");
  const right = article.dataset.right === "1";
  note(right ? 1 : 0, right ? (said() === GUESS ? 2 : 3) : 1);
}

/** What one judges oneself: facts that are ticked, or one of three buttons. */
function judgeSelf() {
  const buttons = first(".grades");
  const boxes = fields(".fact input", article);
  if (buttons) buttons.hidden = false;
  buttons?.addEventListener("click", (event) => {
    const { value } = /** @type {HTMLButtonElement} */ (where(event).closest("button") ?? {});
    if (!value) return;
    note(value === "1" ? 0 : 1, Number(value));
    onward();
  });
  linkAt("next").addEventListener("click", (event) => {
    if (!points.open || !boxes.length) return;
    event.preventDefault();
    const share = boxes.filter((box) => box.checked).length / boxes.length;
    note(share, share < sessions.GOOD ? 1 : share < 1 ? 2 : 3);
    onward();
  });
  points.addEventListener("toggle", () => {
    for (const box of fields(".sure input")) box.disabled = points.open;
  });
}

/** Where the card leads: on in the session, or to the next of its kind. */
function onward() {
  follow();
  location.assign(placed(linkAt("next").getAttribute("href")));
}

/** Shows the session that this card is part of. */
function follow() {
  const session = sessions.load();
  const place = session?.cards.findIndex((one) => one.id === id) ?? -1;
  const box = at("session");
  if (place < 0 || !box) return;
  box.hidden = false;
  at("at").textContent = fill(box.dataset.at, { n: place + 1, total: session.cards.length });
  const clock = () => {
    const left = Math.max(0, Math.round((session.until - Date.now()) / 1000));
    const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    at("clock").textContent = left ? fill(box.dataset.left, { time }) : box.dataset.over;
    linkAt("next")?.setAttribute("href", placed(sessions.next(session, id, Date.now())));
  };
  clock();
  setInterval(clock, 1000);
  at("stop").onclick = () => location.assign(placed("/practice#done"));
}

/** Marks what was done of the course: chapters on its first page, scenes in a chapter. */
function showCourse() {
  const all = course();
  for (const link of /** @type {HTMLAnchorElement[]} */ (every(".chapters a"))) {
    const seen = all[link.dataset.slug] ?? [];
    const last = Number(link.dataset.last);
    link.classList.toggle("done", seen.length >= last);
    if (seen.length && seen.length < last)
      link.href = `/learn/${link.dataset.slug}/${Math.min(Math.max(...seen) + 1, last)}`;
  }
  every(".dots a").forEach((link, i) => {
    link.classList.toggle("done", (all[chapter?.dataset.slug] ?? []).includes(i + 1));
  });
}

/** A scene is done when it is read; with a question or a task, when that is. */
function noteChapter() {
  if (!chapter) return;
  const waits = (article?.dataset.probe && !article.dataset.right) || (at("moves") && !at("done"));
  if (!waits) noteScene(chapter.dataset.slug, Number(chapter.dataset.scene));
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (where(event).closest?.("input:not([type=radio]), select, textarea")) return;
  sayBy(event.key);
  every(".choice")[Number(event.key) - 1]?.click();
  const onward = { ArrowRight: "next", ArrowLeft: "back" }[event.key];
  if (onward && (chapter || onward === "next")) at(onward)?.click();
}

/** What the hand has shown on the stage is the answer of this page. */
function byHand(event) {
  const form = /** @type {HTMLFormElement | null} */ (first("form.choices"));
  if (event.origin !== location.origin || !form || typeof event.data?.by !== "string") return;
  const { by: value } = event.data;
  form.append(
    Object.assign(document.createElement("input"), { type: "hidden", name: "by", value }),
  );
  form.submit();
}

/** In the place of a stage: its page is told to play on, or to put the question away. */
function answerTo(page) {
  const link = linkAt("onward");
  link?.addEventListener("click", (event) => {
    event.preventDefault();
    const { href, dataset } = link;
    page.postMessage({ onward: { ...JSON.parse(dataset.onward), href } }, location.origin);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") page.postMessage({ leave: true }, location.origin);
  });
}

noteAnswer();
noteChapter();
showCourse();
if (points) judgeSelf();
follow();
for (const hint of every(".byhand")) hint.hidden = !hint.textContent.trim();
addEventListener("keydown", keys);
if (document.body.matches(".within") && parent !== window) {
  answerTo(parent);
  focus(); // Keys are answers from now on; the stage inside may take longer to come.
}
addEventListener("message", byHand);
document.body.dataset.ready = "1";
