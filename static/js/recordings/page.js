// From moment to moment of a recording without a new page: what stays on the pictures moves.

import { first, where } from "../core/dom.js";
import { morph } from "../scene/morph.js";

const PARTS = [".choices", "#moment", ".moments"];
let asked = 0;
let wanted = location.href;

/** What has the focus, by something the next page has as well. */
const held = () => {
  const name = document.activeElement?.getAttribute("aria-label");
  return name && `#moment [aria-label="${CSS.escape(name)}"]`;
};

function put(next) {
  const focus = held();
  const opened = Boolean(document.querySelector("#moment details[open]"));
  for (const fresh of next.querySelectorAll("[data-picture]")) {
    const old = document.querySelector(`[data-picture="${fresh.dataset.picture}"]`);
    if (!old) continue;
    morph(old, document.importNode(fresh, true));
    fresh.replaceWith(old);
  }
  for (const part of PARTS) document.querySelector(part).replaceWith(next.querySelector(part));
  const details = /** @type {HTMLDetailsElement} */ (first("#moment details"));
  if (details) details.open = opened;
  if (focus) first(focus)?.focus();
}

async function turn(href) {
  const mine = ++asked;
  wanted = href;
  let next;
  try {
    const answer = await fetch(href);
    if (!answer.ok) throw new Error(answer.statusText);
    next = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    location.href = href; // the page that comes says what is wrong
    return;
  }
  if (mine !== asked) return;
  put(next);
  history.replaceState(null, "", href);
}

document.addEventListener("click", (event) => {
  /** @type {HTMLAnchorElement | null} */
  const link = where(event).closest("a[data-turn]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (!link.hasAttribute("aria-disabled")) turn(link.href);
});
document.addEventListener("keydown", (event) => {
  const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
  if (where(event).closest("input, select, textarea, .scroll, pre")) return;
  event.preventDefault();
  // From what was asked for last: who presses quickly goes as far as who waits.
  const address = new URL(wanted);
  const from = Number(address.searchParams.get("at")) || 0;
  const last = Number(document.getElementById("moment").dataset.last);
  const at = Math.max(0, Math.min(last, Math.min(from, last) + way));
  if (at === from) return;
  address.searchParams.set("at", String(at));
  turn(address.href);
});
document.body.dataset.ready = "1";
