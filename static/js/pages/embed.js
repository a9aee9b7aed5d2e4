// A run inside a foreign page: steps come over plain HTTP, nothing is stored, nothing connects.

import { effect } from "@preact/signals";
import { html } from "htm/preact";
import { render } from "preact";

import { goTo, prefetch, stepBy } from "../animator/player.js";
import { play } from "../animator/playing.js";
import * as stage from "../animator/stage.js";
import * as s from "../animator/state.js";
import { sleep } from "../core/debounce.js";
import { at, pageWords } from "../core/dom.js";
import { tape } from "../core/history.js";
import { inAddress } from "../i18n/words.js";
import { use } from "../net/channel.js";
import { captionAt, Icon, isLong, sayAll } from "../panels/common.js";
import { takeAnswer } from "../scene/answering.js";
import { guessed } from "../scene/hand.js";
import { layersOf } from "../scene/layers.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const lang = inAddress(boot.lang);

/** The questions of the live channel that steps alone can answer. */
async function ask(event, payload) {
  // The stage of a question has its step already, and wants no other one.
  if (boot.ask) return { ok: true, steps: [] };
  const first = event === "seek" ? Math.max(0, payload.step - 2) : payload.step + 1;
  // Of a held run nothing beyond its end is asked for: what comes is nowhere in the page.
  const left = boot.facts.total - first + 1;
  const count = Math.max(1, Math.min(event === "seek" ? 8 : payload.count, left));
  const answer = await fetch(`/r/${boot.run}/steps.json?from=${first}&count=${count}`);
  return answer.json();
}

function Bar() {
  const t = s.t.value;
  const total = s.facts.value.total;
  const n = s.n.value;
  const button = (name, key, run, off, cls = "") =>
    html`<button
      type="button"
      class=${`btn square ${cls}`}
      aria-label=${t(key)}
      title=${t(key)}
      disabled=${off}
      onClick=${run}
    >
      <${Icon} name=${name} />
    </button>`;
  return html`<div class="row" role="group" aria-label=${t("time.label")}>
    ${boot.controls !== "none" && button("prev", "time.back", () => stepBy(-1), n <= 0)}
    ${
      boot.controls === "play" &&
      html`<button
        type="button"
        class="btn square"
        aria-label=${t(s.playing.value ? "time.pause" : "time.play")}
        onClick=${play}
      >
        <${Icon} name=${s.playing.value ? "pause" : "play"} />
      </button>`
    }
    ${boot.controls !== "none" && button("next", "time.on", () => stepBy(1), n >= total, "primary")}
    <span class="num">${n} / ${total}</span>
    <a href=${`/r/${boot.run}?step=${n}&lang=${lang}`} target="_blank" rel="noopener"
      >${t("embed.open")}</a
    >
  </div>`;
}

/** The sentence of the beat, and at the end the verdict. */
function Caption() {
  const step = s.step.value;
  if (!step) return null;
  const { words, kind, aside } = captionAt(step, s.facts.value);
  return html`<p class=${`caption ${kind} ${isLong(words) ? "long" : ""}`}>${words}</p>
    <p class="aside">${aside ?? ""}</p>`;
}

/** An element that wraps this frame makes it as high as what stands in it. */
addEventListener("message", ({ data, source }) => {
  if (!data?.fit || source !== parent) return;
  document.body.classList.add("fit");
  const main = document.querySelector("main");
  new ResizeObserver(() => parent.postMessage({ height: main.scrollHeight }, "*")).observe(main);
});
if (parent !== window) parent.postMessage({ ready: "highwater" }, "*");

function keys(event) {
  const dir = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!dir || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  stepBy(dir);
}

async function start() {
  s.boot.value = boot;
  s.lang.value = lang;
  if (boot.layers) s.layers.value = layersOf(boot.layers);
  s.size.value = boot.ask || !boot.facts.beats.length ? "event" : "story";
  s.words.value = await pageWords();
  use({ ask, connected: true });
  s.tapes.value = [tape(boot.facts, boot.steps)];
  s.run.value = boot.facts.digest;
  s.partition.value = boot.facts.partition;
  at("stage").replaceChildren();
  stage.mount(at("stage"), {
    drawn: (shown) => {
      // Nothing can be pressed here but the answer to a question.
      if (boot.ask) takeAnswer(at("stage"), boot.ask, shown, s.t.value);
      if (boot.guess) guessed(at("stage"), boot.guess, shown, s.t.value);
    },
  });
  await goTo(boot.step);
  if (at("caption")) {
    at("caption").replaceChildren();
    render(html`<${Caption} />`, at("caption"));
  }
  at("bar").replaceChildren();
  render(html`<${Bar} />`, at("bar"));
  if (boot.controls !== "none") addEventListener("keydown", keys);
  effect(() => {
    if (s.step.value && !s.playing.value)
      at("live").textContent = s.t.value("live.step", {
        n: s.n.value,
        words: sayAll(s.step.value),
      });
  });
  if (!boot.ask) prefetch();
  document.body.dataset.ready = "1";
  if (boot.to > boot.step) lead(boot.to);
}

/** Plays to a step by itself, until the visitor presses something. */
async function lead(to) {
  let on = true;
  for (const name of ["pointerdown", "keydown"]) addEventListener(name, () => (on = false));
  if (!stage.moves() || to - s.n.value > 24) {
    await goTo(to);
    return;
  }
  while (on && s.n.value < to) {
    await sleep(650);
    if (on) await stepBy(1);
  }
}

start();
