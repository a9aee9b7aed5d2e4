// The glossary works without this script; with it, entries are found as one types.

import { at, every, field } from "./found.js";

const entries = every(".terms > div, .rule, #flags ~ .scroll tbody tr");
const texts = new Map(entries.map((one) => [one, `${one.id} ${one.textContent}`.toLowerCase()]));
const groups = every(".gloss > section");

/** Hides what has not all of the words, and the headings under which nothing is left. */
function show() {
  const words = field("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const one of entries) {
    one.hidden = !words.every((word) => texts.get(one).includes(word));
    count += one.hidden ? 0 : 1;
  }
  const left = (part) => words.length === 0 || part.querySelector(HERE) !== null;
  for (const group of groups) group.hidden = !left(group);
  for (const rules of every("div.rules")) {
    const heading = /** @type {HTMLElement} */ (rules.previousElementSibling);
    rules.hidden = !left(rules);
    heading.hidden = rules.hidden;
  }
  at("found").textContent = words.length
    ? at("found").dataset.text.replace("#", String(count))
    : "";
}

const HERE = ".terms > div:not([hidden]), .rule:not([hidden]), tbody tr:not([hidden])";

at("search").hidden = false;
at("find").addEventListener("input", show);
// An address that names an entry is not to lead to one that is hidden.
addEventListener("hashchange", () => {
  if (!document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("[hidden]"))
    return;
  field("find").value = "";
  show();
  document.getElementById(decodeURIComponent(location.hash.slice(1))).scrollIntoView();
});
