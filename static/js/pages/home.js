// Progress on the learning path, and answers while a visitor types.  The page works without it.

import * as visits from "../animator/visits.js";
import { answerWhileTyping } from "../find/finding.js";
import { fill } from "../i18n/words.js";

const at = (id) => document.getElementById(id);
/** @type {NodeListOf<HTMLElement>} */
const steps = document.querySelectorAll(".steps li");

function follow() {
  const done = visits.done();
  const finished = [...steps].filter((li) => done.includes(li.dataset.key));
  const next = [...steps].find((li) => !done.includes(li.dataset.key));
  for (const li of steps) {
    /** @type {HTMLElement} */
    const was = li.querySelector(".was");
    li.classList.toggle("done", finished.includes(li));
    li.classList.toggle("next", finished.length > 0 && li === next);
    was.textContent = finished.includes(li)
      ? `· ${was.dataset.done}`
      : finished.length && li === next
        ? `· ${was.dataset.next}`
        : "";
  }
  const progress = at("progress");
  const whole = finished.length === steps.length;
  at("again").hidden = finished.length === 0;
  progress.hidden = finished.length === 0 || whole;
  at("finished").hidden = !whole;
  progress.textContent = fill(progress.dataset.text, { done: finished.length, n: steps.length });
}

at("again").addEventListener("click", () => {
  visits.forgetDone();
  follow();
});
answerWhileTyping(/** @type {HTMLInputElement} */ (at("sought")), at("answers"), {
  status: at("sought-count"),
});
addEventListener("pageshow", follow);
follow();
document.body.dataset.ready = "1";
