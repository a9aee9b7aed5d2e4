// The result of ten questions: kept in this browser, and after the course told beside the first.

import { forget, gained, keep } from "../core/measured.js";

const at = (id) => document.getElementById(id);
const result = at("result");

function fill(text, args) {
  return text.replace(/\{(\w+)\}/g, (place, name) => args[name] ?? place);
}

function say(id, text) {
  at(id).textContent = text;
  at(id).hidden = false;
}

function show({ before, after }) {
  if (!before) {
    say("gained", result.dataset.alone);
    return;
  }
  const found = gained({ before, after });
  say("gained", fill(result.dataset[found.sort], { ...found, total: after.length }));
  const kinds = [...document.querySelectorAll("#each [data-kind]")].map((row) => row.dataset.kind);
  for (const side of ["won", "lost"]) {
    const names = [...new Set(found[side].map((i) => kinds[i]))];
    if (names.length)
      say(side, fill(result.dataset[side], { kinds: names.join(result.dataset.comma) }));
  }
  at("few").hidden = false;
}

const all = keep(result.dataset.side, result.dataset.marks);
if (result.dataset.side === "after") show(all);
at("forget").hidden = false;
at("forget").addEventListener("click", () => {
  forget();
  location.assign("/learn/test/before");
});
document.body.dataset.ready = "1";
