// A search, from a step or about the runs of a study: while it runs, its part of the page is asked
// for again.  Without this script the page reloads itself.

import { at, field } from "../core/dom.js";

const answer = at("answer");
const goal = field("goal");
const own = at("own");
const EVERY_MS = 700;
/** Address of the question that the answer is about. */
let asked = answer.dataset.asked;
let next = 0;

function showOwnGoal() {
  own.hidden = goal.value !== "own";
}

async function follow() {
  const told = await fetch(asked.replace(/(?=\?|$)/, "/answer"), {
    headers: { Accept: "text/html" },
  }).catch(() => null);
  if (told?.ok) answer.innerHTML = await told.text();
  watch();
}

function watch() {
  const running = answer.querySelector("[data-running]");
  document.body.dataset.searching = running ? "1" : "";
  clearTimeout(next);
  if (running) next = setTimeout(follow, EVERY_MS);
}

/** Begins or ends a search without leaving the page: a page without a server would forget it. */
async function send(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (form.method !== "post" || !asked) return;
  event.preventDefault();
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  const told = await fetch(form.getAttribute("action"), { method: "POST", body }).catch(() => null);
  if (!told) return;
  const text = await told.text();
  const to = told.headers.get("Location") ?? (told.redirected ? told.url : null);
  if (to) {
    const url = new URL(to, location.href);
    asked = url.pathname + url.search;
    history.replaceState(history.state, "", asked);
    follow();
  } else {
    const page = new DOMParser().parseFromString(text, "text/html");
    answer.replaceChildren(...(page.getElementById("answer")?.childNodes ?? []));
  }
}

if (goal) {
  goal.addEventListener("change", showOwnGoal);
  showOwnGoal();
}
at("main").addEventListener("submit", send);
watch();
document.body.dataset.ready = "1";
