// How sure one is, said by a letter; and the picture of how sure one was: a row for each word, how
// many of those answers were right.

import { fields } from "../core/dom.js";
import { stored } from "../core/storage.js";
import { fill } from "../i18n/words.js";
import { calibration, saying } from "./store/calibration.js";

function row(words, { sure, right, of }) {
  const line = document.createElement("tr");
  const name = Object.assign(document.createElement("th"), {
    scope: "row",
    textContent: words[`sure${sure}`],
  });
  const said = Object.assign(document.createElement("td"), {
    className: "num",
    textContent: of ? fill(words.of, { right, of }) : "–",
  });
  const bar = document.createElement("td");
  bar.className = "bar";
  bar.setAttribute("aria-hidden", "true");
  const track = document.createElement("i");
  track.style.setProperty("--share", String(of ? right / of : 0));
  track.classList.toggle("none", !of);
  bar.append(track);
  line.append(name, bar, said);
  return line;
}

/** Fills a box of the page from answers, {sure, right}; a box without any stays hidden. */
export function tell(box, answers) {
  const rows = calibration(answers);
  const said = saying(rows);
  if (!box) return;
  box.hidden = !said;
  if (!said) return;
  const words = box.dataset;
  box.querySelector(".plainly").textContent = `${fill(words[`said${said.sure}`], said)} ${
    words[said.found] ?? ""
  }`.trim();
  box.querySelector("tbody").replaceChildren(...rows.map((one) => row(words, one)));
}

const LETTERS = { g: "1", t: "2", c: "3" };

const mayBeLetters = () => stored("highwater.letters", "on") !== "off";

/** Says how sure the coming answer is; said twice, it is taken back. */
export function sayBy(key) {
  const [box] = fields(`.sure input[value="${LETTERS[key] ?? ""}"]:enabled`);
  if (box && mayBeLetters()) box.checked = !box.checked;
}
