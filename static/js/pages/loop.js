// The first screen plays: pictures come from the server, and what lasts from one to the next moves.

import { every, fields, linkAt } from "../core/dom.js";
import { morph } from "../scene/morph.js";

const MOMENT_MS = 1900;
const LAST_MS = 3800;
const FIRST_MS = 150;
const ACKNOWLEDGED = 4;
/** The moments that stand still side by side: acknowledged, cut, gone. */
const STILLS = [ACKNOWLEDGED, 5, 7];

const figure = document.getElementById("loop");
const hero = figure.closest(".hero");
const picture = figure.querySelector(".plays svg");
const [stills] = every(".stills", figure);
const caption = figure.querySelector("figcaption");
const dots = [...figure.querySelectorAll(".dot")];
const pause = document.getElementById("pause");
const answer = document.getElementById("answer");
const watch = linkAt("watch");
const still =
  matchMedia("(prefers-reduced-motion: reduce)").matches ||
  document.documentElement.dataset.motion === "off";
const loaded = new Map();

let frames = [];
let lost = false;
let at = 0;
let timer = 0;
let playing = !still;
let held = false;

function drawn(inside) {
  const made = new DOMParser().parseFromString(
    `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`,
    "image/svg+xml",
  );
  return document.importNode(made.documentElement, true);
}

const ending = (number) => (number === frames.length - 1 ? (lost ? "lost" : "kept") : "");

/** A picture whose clips are its own: there are several on the page, and one is hidden. */
const apart = (inside, name) =>
  inside.replace(/(\bid="|url\(#)([^")]+)/g, (_, before, id) => `${before}${id}-${name}`);

/** Three moments beside their sentences, one below the other. */
function standStill() {
  stills.replaceChildren(
    ...STILLS.map((number) => {
      const svg = drawn(apart(frames[number].picture, number));
      svg.setAttribute("viewBox", picture.getAttribute("viewBox"));
      svg.setAttribute("aria-hidden", "true");
      const said = Object.assign(document.createElement("p"), {
        className: ending(number),
        textContent: frames[number].say,
      });
      const row = document.createElement("li");
      row.append(svg, said);
      return row;
    }),
  );
}

function show(number) {
  at = number;
  const { picture: inside, say } = frames[at];
  morph(picture, drawn(inside));
  caption.textContent = say;
  caption.className = `plays ${ending(at)}`;
  dots.forEach((dot, n) => dot.toggleAttribute("aria-current", n === at));
  aim();
}

/** The button opens the run where this picture stands; from the last one it begins again. */
function aim() {
  const to = new URL(watch.href);
  if (at < frames.length - 1) to.searchParams.set("step", frames[at].step);
  else to.searchParams.delete("step");
  watch.href = to.href;
}

function wait(ms = at === frames.length - 1 ? LAST_MS : MOMENT_MS) {
  clearTimeout(timer);
  if (!playing || held || document.hidden) return;
  timer = setTimeout(() => go(at + 1), ms);
}

function go(number) {
  show((number + frames.length) % frames.length);
  wait();
}

function stop() {
  playing = false;
  told();
}

function told() {
  pause.textContent = playing ? "❚❚" : "▶";
  pause.setAttribute("aria-label", playing ? pause.dataset.pause : pause.dataset.play);
}

/** The runs in which this version loses something all the same. */
const linkTo = (href) =>
  Object.assign(document.createElement("a"), { href, textContent: answer.dataset.left });

async function choose(input, from) {
  const address = input.dataset.frames;
  if (!loaded.has(address)) loaded.set(address, (await fetch(address)).json());
  const found = await loaded.get(address);
  if (!input.checked) return;
  ({ frames, lost } = found);
  const release = input.parentElement.querySelector(".release").textContent;
  const said = document.createElement("b");
  said.className = lost ? "lost" : "kept";
  said.textContent = `Kafka ${release}: ${lost ? answer.dataset.yes : answer.dataset.no}`;
  answer.replaceChildren(said);
  if (!lost) answer.append(" ", linkTo(`/scenarios?profile=${input.value}&end=loss`));
  watch.href = input.dataset.watch;
  if (still) standStill();
  else if (from >= 0) go(from);
  else wait(FIRST_MS);
}

const versions = fields("#versions input", hero);
for (const input of versions) {
  // Another version goes on at the latest where the record is acknowledged.
  input.addEventListener("change", () => choose(input, Math.min(at, ACKNOWLEDGED)));
}

/** The version under a finger or a pressed mouse is chosen, as on a slider. */
const ladder = document.getElementById("versions");
function drag(event) {
  const { left, width } = ladder.getBoundingClientRect();
  const place = Math.floor(((event.clientX - left) / width) * versions.length);
  const input = versions[Math.max(0, Math.min(versions.length - 1, place))];
  if (input.checked) return;
  input.checked = true;
  input.dispatchEvent(new Event("change"));
}
ladder.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  ladder.setPointerCapture(event.pointerId);
  drag(event);
});
ladder.addEventListener("pointermove", (event) => {
  if (ladder.hasPointerCapture(event.pointerId)) drag(event);
});
dots.forEach((dot, n) => dot.addEventListener("click", () => (stop(), go(n))));
pause.addEventListener("click", () => {
  playing = !playing;
  told();
  wait();
});
figure.addEventListener("keydown", (event) => {
  const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!way || !frames.length) return;
  event.preventDefault();
  stop();
  go(at + way);
});
function hold(event) {
  held = event.type === "pointerenter";
  wait();
}
figure.addEventListener("pointerenter", hold);
figure.addEventListener("pointerleave", hold);
document.addEventListener("visibilitychange", () => wait());

for (const row of every(".dots", figure)) row.hidden = still;
figure.dataset.plays = "1";
for (const one of every(".plays", figure)) one.hidden = still;
stills.hidden = !still;
told();
choose(fields("#versions input:checked", hero)[0], -1);
