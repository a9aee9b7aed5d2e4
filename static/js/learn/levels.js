// The cards of the levels: those that this browser has solved are marked.

import { done } from "../animator/visits.js";

const solved = new Set(done());
for (const pill of /** @type {NodeListOf<HTMLElement>} */ (
  document.querySelectorAll("[data-level]")
))
  pill.hidden = !solved.has(`level:${pill.dataset.level}`);
document.body.dataset.ready = "1";
