// A search, from a step or about the runs of a study: while it runs, its part of the page is asked
// for again.  Without this script the page asks for itself anew.

import { at, field } from "../core/dom.js";

const answer = at("answer");
const goal = field("goal");
const own = at("own");
const EVERY_MS = 700;

function furnish() {
  own.hidden = goal.value !== "own";
}

async function follow() {
  const here = `${location.pathname}/answer${location.search}`;
  const told = await fetch(here, { headers: { Accept: "text/html" } }).catch(() => null);
  if (told?.ok) answer.innerHTML = await told.text();
  watch();
}

function watch() {
  const running = answer.querySelector("[data-running]");
  document.body.dataset.searching = running ? "1" : "";
  if (running) setTimeout(follow, EVERY_MS);
}

if (goal) {
  goal.addEventListener("change", furnish);
  furnish();
}
watch();
document.body.dataset.ready = "1";
