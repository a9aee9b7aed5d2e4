// The deck of claims: answers by number key, progress in this browser, and the first sentence
// that was not answered yet.  Without this script the deck begins with its first card.

import { at, every, first, linkAt, where } from "../core/dom.js";
import { placed } from "../core/place.js";
import * as deck from "./store/claims.js";

const card = first(".deckcard");
const answered = document.getElementById("answered");

function showScore(order) {
  const score = at("score");
  const { done, right } = deck.score(deck.kept(), order);
  score.textContent = score.dataset.text
    .replace("{done}", String(done))
    .replace("{right}", String(right));
  score.hidden = !done;
  at("over").hidden = done < order.length;
  const known = deck.kept();
  for (const link of every(".all .claims a"))
    link.classList.toggle("done", Object.hasOwn(known, link.dataset.slug));
}

/** The deck goes on where it was left, unless the address names a card. */
function begin() {
  const order = card.dataset.deck.split(" ");
  const onward = deck.next(deck.kept(), order);
  if (card.dataset.asked === "false" && onward && onward !== card.dataset.slug) {
    location.replace(placed(`/claims?card=${onward}`));
    return;
  }
  showScore(order);
  at("again").addEventListener("click", () => {
    deck.forget();
    location.assign(placed("/claims"));
  });
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (where(event).closest?.("input, select, textarea")) return;
  every(".says button")[Number(event.key) - 1]?.click();
  if (event.key === "ArrowRight") document.getElementById("next")?.click();
}

if (card) begin();
if (answered?.dataset.said) {
  deck.note(answered.dataset.slug, answered.dataset.right === "true");
  linkAt("next").focus({ preventScroll: true });
}
addEventListener("keydown", keys);
document.body.dataset.ready = "1";
