// The glossary works without this script; with it, entries are found as one types.

const at = (id) => document.getElementById(id);
const entries = [...document.querySelectorAll(".terms > div, .rule, #flags ~ .scroll tbody tr")];
const texts = new Map(entries.map((one) => [one, `${one.id} ${one.textContent}`.toLowerCase()]));
const groups = [...document.querySelectorAll(".gloss > section")];

/** Hides what has not all of the words, and the headings under which nothing is left. */
function show() {
  const words = at("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const one of entries) {
    one.hidden = !words.every((word) => texts.get(one).includes(word));
    count += one.hidden ? 0 : 1;
  }
  const left = (part) => words.length === 0 || part.querySelector(HERE) !== null;
  for (const group of groups) group.hidden = !left(group);
  for (const rules of document.querySelectorAll("div.rules")) {
    rules.hidden = !left(rules);
    rules.previousElementSibling.hidden = rules.hidden;
  }
  at("found").textContent = words.length ? at("found").dataset.text.replace("#", count) : "";
}

const HERE = ".terms > div:not([hidden]), .rule:not([hidden]), tbody tr:not([hidden])";

at("search").hidden = false;
at("find").addEventListener("input", show);
// An address that names an entry is not to lead to one that is hidden.
addEventListener("hashchange", () => {
  if (!document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("[hidden]"))
    return;
  at("find").value = "";
  show();
  document.getElementById(decodeURIComponent(location.hash.slice(1))).scrollIntoView();
});
