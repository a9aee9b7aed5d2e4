// The first screen plays: pictures come from the server, and what lasts from one to the next moves.

import { morph } from "../scene/morph.js";

const MOMENT_MS = 1900;
const LAST_MS = 3800;

const figure = document.getElementById("loop");
const hero = figure.closest(".hero");
const picture = figure.querySelector("svg");
const caption = figure.querySelector("figcaption");
const dots = [...figure.querySelectorAll(".dot")];
const pause = document.getElementById("pause");
const answer = document.getElementById("answer");
const watch = document.getElementById("watch");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const loaded = new Map();

let frames = [];
let lost = false;
let at = 0;
let timer = 0;
let playing = !still.matches;
let held = false;

function show(number) {
  at = number;
  const { picture: inside, say } = frames[at];
  const made = new DOMParser().parseFromString(
    `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`,
    "image/svg+xml",
  );
  morph(picture, document.importNode(made.documentElement, true));
  caption.textContent = say;
  const last = at === frames.length - 1;
  caption.className = last ? (lost ? "lost" : "kept") : "";
  dots.forEach((dot, n) => dot.toggleAttribute("aria-current", n === at));
}

function wait() {
  clearTimeout(timer);
  if (!playing || held || document.hidden) return;
  timer = setTimeout(() => go(at + 1), at === frames.length - 1 ? LAST_MS : MOMENT_MS);
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
  watch.href = watch.dataset.base + encodeURIComponent(input.value);
  go(from);
}

for (const input of hero.querySelectorAll("#versions input")) {
  input.addEventListener("change", () => choose(input, Math.max(0, Math.min(at, 4))));
}
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
for (const [name, value] of [
  ["pointerenter", true],
  ["pointerleave", false],
]) {
  figure.addEventListener(name, () => {
    held = value;
    wait();
  });
}
document.addEventListener("visibilitychange", wait);

figure.querySelector(".dots").hidden = false;
told();
const first = hero.querySelector("#versions input:checked");
choose(first, still.matches ? dots.length - 1 : 0);
