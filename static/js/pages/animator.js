// Entry of the animator page: words, socket, stage and panels, wired together.

import { effect } from "@preact/signals";
import { html } from "htm/preact";
import { render } from "preact";

import { switchTo } from "../animator/acting.js";
import { asked, follow, settle, spoken } from "../animator/address.js";
import { follow as followBookmarks } from "../animator/bookmarks.js";
import { listen } from "../animator/keys.js";
import * as onRequest from "../animator/on_request.js";
import { begin, goTo, open, prefetch } from "../animator/player.js";
import { play } from "../animator/playing.js";
import * as stage from "../animator/stage.js";
import * as s from "../animator/state.js";
import { done } from "../animator/visits.js";
import * as classroom from "../classroom/classroom.js";
import { at, pageWords } from "../core/dom.js";
import { lasting } from "../core/kept.js";
import { Refused } from "../core/post.js";
import { inAddress } from "../i18n/words.js";
import { connect, nameOf, use } from "../net/channel.js";
import { Bars, Notice } from "../panels/bars.js";
import { Branches } from "../panels/branches.js";
import { Caption } from "../panels/caption.js";
import { sayAll } from "../panels/common.js";
import { Hits } from "../panels/hits.js";
import { Beside, Blank, markBoard, Whole } from "../panels/instead.js";
import { drawn } from "../panels/menu.js";
import { loadFutures } from "../panels/noreturn.js";
import { loadCards } from "../panels/rulecard.js";
import { Tabs } from "../panels/tabs.js";
import { Title } from "../panels/title.js";
import { Transport } from "../panels/transport.js";
import { layersText } from "../scene/layers.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
// Read before they are gone.
const wanted = new URLSearchParams(location.search);
const plays = wanted.get("play") === "1";
const moves = (wanted.get("moves") ?? "").split(";").filter(Boolean);

async function start() {
  s.boot.value = boot;
  s.level.value = boot.level;
  s.lang.value = inAddress(boot.lang);
  // The way to the server is opened while the words come.
  const words = pageWords();
  const channel = connect({
    onConnect: () => words.then(arrive),
    onLost: lose,
  });
  s.words.value = await words;
  fetch(lasting("/api/registry"))
    .then((r) => r.json())
    .then((found) => {
      s.registry.value = found;
    })
    .catch(() => {
      /* menus stay short */
    });
  for (const [id, part] of Object.entries({
    title: Title,
    bars: Bars,
    notice: Notice,
    caption: Caption,
    side: Tabs,
    transport: Transport,
    branches: Branches,
    hits: Hits,
    blank: Blank,
  }))
    render(html`<${part} />`, at(id));
  effect(markBoard);
  render(html`<${Whole} />`, at("tableview"));
  render(html`<${Beside} />`, at("beside"));
  effect(() => {
    if (s.view.value === "spacetime") onRequest.spacetime(at("spacetime"));
  });
  stage.mount(at("stage"), {
    drawn: (shown) => {
      drawn.value = shown;
    },
  });
  use(channel);
  classroom.attend(channel);
  listen();
  effect(follow);
  effect(announce);
  effect(() => {
    loadCards(s.facts.value?.profile);
  });
  followBookmarks();
  effect(() => s.remember("layers", layersText(s.layers.value)));
  loadFutures();
  addEventListener("popstate", back);
  addEventListener("coach", () => onRequest.coach());
  addEventListener("settings", ({ detail }) => {
    if (detail.name === "letters") s.letters.value = detail.value === "on";
    if (detail.name === "size") s.size.value = detail.value;
  });
}

/** Connected, for the first time or again: the run is opened by its name, or told by its text. */
async function arrive() {
  s.online.value = true;
  s.offlineSince.value = null;
  const here = s.tapeNow.value;
  if (s.predicting.value) return;
  try {
    if (here) await reopen(here);
    else {
      await first();
      const tour = () =>
        boot.room ||
        boot.level ||
        s.remembered("coached", "") ||
        (done().length && onRequest.coach());
      if (plays) play().then(tour);
      else tour();
      (window.requestIdleCallback ?? setTimeout)(() => onRequest.readyHelp());
    }
    await classroom.arrive();
    document.body.dataset.ready = "1";
    onRequest.fetchShareLater();
  } catch (problem) {
    s.notice.value = {
      kind: "bad",
      text: problem instanceof Refused ? problem.message : s.t.value("offline.wait"),
    };
    document.body.dataset.ready = "1";
  }
}

/** What the address asks for; what of it cannot be read is said, and the nearest readable opens. */
async function first() {
  const { seen, problems, text } = await asked();
  const step = seen.step ?? boot.step;
  if (!text || !(await opens(text, step, problems))) {
    if (boot.bare) problems.push({ key: "link.instead" });
    // No folder without a server knows a level's run by its digest.
    const run = boot.level ? { text: boot.level.text } : { run: boot.run };
    const answer = await open({ ...run, step });
    if (!boot.kept) Object.assign(s.tapeNow.value, { saved: false, text: answer.text });
  }
  settle(seen, problems);
  if (s.facts.value.scenario.live) await import("../animator/living.js");
  if (boot.level) await import("../animator/level.js").then((level) => level.begin(moves));
  else if (!step && !text && !boot.room) await begin();
}

async function opens(text, step, problems) {
  try {
    await open({ text, step });
    return true;
  } catch (problem) {
    problems.push({ text: `${s.t.value("run.unreadable")} ${problem.message}` });
    return false;
  }
}

async function reopen(here) {
  const known = [...here.steps.keys()];
  const payload = { step: s.n.value, have: Math.max(-1, ...known) };
  try {
    await open({ run: here.digest, ...payload }, { n: s.n.value });
  } catch (problem) {
    if (!(problem instanceof Refused) || problem.code !== "gone") throw problem;
    await open({ ...nameOf(here), ...payload }, { n: s.n.value });
  }
  prefetch();
}

function lose(retryAt) {
  s.online.value = false;
  s.retryAt.value = retryAt;
  s.offlineSince.value ??= performance.now();
}

/** The browser's own way back: to the run and the step an address spoke of. */
function back(event) {
  const { run, step } = spoken(event);
  if (run && run !== s.run.value && s.tapes.value.some((one) => one.digest === run)) switchTo(run);
  goTo(step);
}

let spokenAt = 0;

/** One polite sentence; while playing only moments, and not more than one in two seconds. */
function announce() {
  const step = s.step.value;
  void s.words.value;
  if (!step) return;
  const now = performance.now();
  if (s.playing.peek() && (step.moment < 2 || now - spokenAt < 2000)) return;
  spokenAt = now;
  at("live").textContent = s.t.value("live.step", { n: step.n, words: sayAll(step) });
}

start();
