// The result of ten questions: kept in this browser, and after the course told beside the first.

import { every } from "../core/dom.js";
import { placed } from "../core/place.js";
import { fill, tell } from "./calibration.js";
import { calibration, saying } from "./store/calibration.js";
import { answers, forget, gained, keep } from "./store/measured.js";

const at = (id) => document.getElementById(id);
const result = at("result");

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
  const kinds = every("#each [data-kind]").map((row) => row.dataset.kind);
  for (const side of ["won", "lost"]) {
    const names = [...new Set(found[side].map((i) => kinds[i]))];
    if (names.length)
      say(side, fill(result.dataset[side], { kinds: names.join(result.dataset.comma) }));
  }
  at("few").hidden = false;
}

/** How sure one was this time, and after the course how that was before it. */
function showSure(all) {
  const { side } = result.dataset;
  const box = at("calibration");
  tell(box, answers(all, side));
  const before = side === "after" && saying(calibration(answers(all, "before")));
  if (!before) return;
  const said = fill(box.dataset[`said${before.sure}`], before);
  say("earlier", fill(result.dataset.earlier, { said }));
}

const { side, marks, sure } = result.dataset;
const all = keep(side, marks, sure);
showSure(all);
if (result.dataset.side === "after") show(all);
at("forget").hidden = false;
at("forget").addEventListener("click", () => {
  forget();
  location.assign(placed("/learn/test/before"));
});
document.body.dataset.ready = "1";
