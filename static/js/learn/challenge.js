// A challenge: moves that stand ready are put behind those that are written.  Typing works alone.

import { at, field, where } from "../core/dom.js";

const moves = field("moves");
const offered = at("offered");

offered.hidden = false;
offered.addEventListener("click", (event) => {
  const move = where(event).closest("button")?.dataset.move;
  if (!move) return;
  const before = moves.value.trimEnd();
  moves.value = before ? `${before}\n${move}` : move;
  moves.scrollTop = moves.scrollHeight;
});
document.body.dataset.ready = "1";
