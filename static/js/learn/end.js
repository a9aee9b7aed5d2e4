// The card after the twelve questions: score, weak topics, and which answers were wrong.

import { at, every } from "../core/dom.js";
import { placed } from "../core/place.js";

const KEY = "highwater.learn";

/** @returns {{path?: Record<string, boolean>, seen?: string[], done?: number[]}} */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

function show(path) {
  const links = every("[data-n]");
  const answered = links.filter((link) => Object.hasOwn(path, link.dataset.n));
  const wrong = answered.filter((link) => !path[link.dataset.n]);
  for (const link of answered) {
    const how = /** @type {HTMLElement} */ (link.querySelector(".how"));
    const right = path[link.dataset.n];
    how.textContent = right ? how.dataset.right : how.dataset.wrong;
    link.classList.toggle("done", right);
  }
  const score = at("endscore");
  const rest = links.length - answered.length;
  score.textContent = score.dataset.text
    .replace("{right}", String(answered.length - wrong.length))
    .replace("{asked}", String(answered.length));
  if (rest) score.textContent += ` ${score.dataset.rest.replace("{n}", String(rest))}`;
  score.hidden = !answered.length;
  const topics = [...new Set(wrong.map((link) => link.dataset.kind))];
  const weak = at("weak");
  weak.textContent = weak.dataset.text.replace("{topics}", topics.join(", "));
  weak.hidden = !topics.length;
  at("afresh").hidden = !answered.length;
}

/** Forgets the answers of the path alone, so that each counts again. */
function again() {
  const all = kept();
  const rest = { ...all, path: {}, done: [], seen: [] };
  localStorage.setItem(KEY, JSON.stringify(rest));
  location.assign(placed("/learn?n=1"));
}

show(kept().path ?? {});
at("afresh").addEventListener("click", again);
document.body.dataset.ready = "1";
