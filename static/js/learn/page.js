// The questions page: answers by number key, and what this browser remembers of them.
// Everything else is the server's: without this script one clicks, and nothing is counted.
// A chapter of the course is such a page, too; its scenes are gone through by arrow keys.

import "./memory.js";

import { every, first, linkAt, where } from "../core/dom.js";
import { sayBy, tell } from "./calibration.js";
import { answered, answers, sureAndWrong, unanswered } from "./store/answers.js";
import { isSure } from "./store/calibration.js";
import { noteScene, progress as course } from "./store/course.js";

const KEY = "highwater.learn";
const article = first(".ask");
const chapter = first(".chapter");

/** {asked, right, done: [numbers of the path], met: {belief: times}, path: {number: right}};
 *  empty where none is kept. */
function kept() {
  const empty = { asked: 0, right: 0, done: [], met: {}, seen: [], path: {} };
  try {
    return { ...empty, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return empty;
  }
}

function keep(progress) {
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch {
    // A browser that keeps nothing still shows every question.
  }
}

/** Counts an answer once: a page that is loaded again is the same answer. */
function note(progress) {
  const asked = new URLSearchParams(location.search);
  const parts = ["s", "run", "profile", "q", "n"].map((part) => asked.get(part) ?? "");
  const name = chapter ? `${chapter.dataset.slug} ${chapter.dataset.scene}` : parts.join(" ");
  if (progress.seen.includes(name)) return progress;
  const right = article.dataset.right === "1";
  const met = { ...progress.met };
  for (const id of article.dataset.ids.split(" ").filter(Boolean)) met[id] = (met[id] ?? 0) + 1;
  const number = Number(asked.get("n"));
  answered({
    run: asked.get("run") ?? asked.get("s") ?? chapter?.dataset.slug ?? "",
    profile: asked.get("profile") ?? "",
    probe: article.dataset.probe,
    kind: article.dataset.kind,
    given: article.dataset.given,
    right,
    ids: article.dataset.ids.split(" ").filter(Boolean),
    sure: isSure(Number(asked.get("sure"))) ? Number(asked.get("sure")) : undefined,
    href: chapter ? location.pathname : `${location.pathname}?${unanswered(location.search)}`,
    text: document.getElementById("question").textContent.trim(),
  });
  return {
    asked: progress.asked + 1,
    right: progress.right + (right ? 1 : 0),
    done: number ? [...new Set([...progress.done, number])] : progress.done,
    path: number ? { ...progress.path, [number]: right } : progress.path,
    met,
    seen: [...progress.seen, name].slice(-500),
  };
}

function show(progress) {
  const score = document.getElementById("score");
  if (score && progress.asked) {
    score.textContent = score.dataset.text
      .replace("{right}", String(progress.right))
      .replace("{asked}", String(progress.asked));
    score.hidden = false;
  }
  document.querySelectorAll(".topics:not(.chapters) a").forEach((link, i) => {
    link.classList.toggle("done", progress.done.includes(i + 1));
  });
}

/** Marks what was done of the course: chapters on the first page, scenes in a chapter. */
function showCourse() {
  const all = course();
  for (const link of /** @type {HTMLAnchorElement[]} */ (every(".chapters a"))) {
    const seen = all[link.dataset.slug] ?? [];
    const last = Number(link.dataset.last);
    link.classList.toggle("done", seen.length >= last);
    if (seen.length && seen.length < last)
      link.href = `/learn/${link.dataset.slug}/${Math.min(Math.max(...seen) + 1, last)}`;
  }
  document.querySelectorAll(".dots a").forEach((link, i) => {
    link.classList.toggle("done", (all[chapter?.dataset.slug] ?? []).includes(i + 1));
  });
}

/** A scene is done when it is read; with a question or a task, when that is. */
function noteChapter() {
  if (!chapter) return;
  const waits =
    (article?.dataset.probe && article.dataset.right === undefined) ||
    (document.getElementById("moves") && !document.getElementById("done"));
  if (!waits) noteScene(chapter.dataset.slug, Number(chapter.dataset.scene));
}

/** How sure one was so far, and what was certain and wrong. */
function showSure() {
  const all = answers();
  tell(document.getElementById("calibration"), all);
  const lost = document.getElementById("surewrong");
  const found = lost ? sureAndWrong(all).slice(0, 3) : [];
  if (!found.length) return;
  lost.querySelector("ol").replaceChildren(
    ...found.map(({ href, text }) => {
      const row = document.createElement("li");
      row.append(Object.assign(document.createElement("a"), { href, textContent: text }));
      return row;
    }),
  );
  lost.hidden = false;
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (where(event).closest?.("input:not([type=radio]), select, textarea")) return;
  sayBy(event.key);
  const choice = every(".choice")[Number(event.key) - 1];
  if (choice) choice.click();
  const onward = { ArrowRight: "next", ArrowLeft: "back" }[event.key];
  if (onward && (chapter || onward === "next")) document.getElementById(onward)?.click();
}

/** What the hand has shown on the stage is the answer of this page. */
function byHand(event) {
  const form = /** @type {HTMLFormElement | null} */ (first(".choices"));
  if (event.origin !== location.origin || !form || typeof event.data?.by !== "string") return;
  const input = Object.assign(document.createElement("input"), {
    type: "hidden",
    name: "by",
    value: event.data.by,
  });
  form.append(input);
  form.submit();
}

function showAll(progress) {
  show(progress);
  showCourse();
  showSure();
}

/** In the place of a stage: its page is told to play on, or to put the question away. */
function answerTo(page) {
  const onward = linkAt("onward");
  onward?.addEventListener("click", (event) => {
    event.preventDefault();
    const { href, dataset } = onward;
    page.postMessage({ onward: { ...JSON.parse(dataset.onward), href } }, location.origin);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") page.postMessage({ leave: true }, location.origin);
  });
}

let progress = kept();
if (article && article.dataset.right !== undefined) {
  progress = note(progress);
  keep(progress);
  document.getElementById("verdict").focus({ preventScroll: true });
}
noteChapter();
showAll(progress);
for (const hint of every(".byhand")) hint.hidden = !hint.textContent.trim();
addEventListener("keydown", keys);
if (document.body.matches(".within") && parent !== window) {
  answerTo(parent);
  focus(); // Keys are answers from now on; the stage inside may take longer to come.
}
addEventListener("message", byHand);
addEventListener("highwater:loaded", () => showAll(kept()));
document.body.dataset.ready = "1";
