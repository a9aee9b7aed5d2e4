// Entry of the animator page: words, socket, stage and panels, wired together.

import { effect } from "@preact/signals";
import { render } from "preact";
import { html } from "htm/preact";
import { nameOf, use } from "./asking.js";
import { fromFragment, goTo, open, prefetch, switchTo } from "./player.js";
import { pack } from "./packing.js";
import * as s from "./state.js";
import * as stage from "./stage.js";
import { connect, Refused } from "./socket.js";
import { listen } from "./keys.js";
import { sayAll } from "./panels/common.js";
import { Connection, Notice, Violation } from "./panels/banner.js";
import { Help } from "./panels/help.js";
import { drawn, Hits } from "./panels/hits.js";
import { useAsk } from "./possible.js";
import { Rail } from "./panels/rail.js";
import { loadCards } from "./panels/rulecard.js";
import { Sentence } from "./panels/sentence.js";
import { Tabs } from "./panels/tabs.js";
import { Title } from "./panels/title.js";
import { Transport } from "./panels/transport.js";
import { Why } from "./panels/why.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const at = (id) => document.getElementById(id);
const home = location.pathname;     // the page a branch that was not saved hangs its text on
let told = null;

async function start() {
  s.boot.value = boot;
  s.lang.value = boot.lang.startsWith("zh") ? "zh" : "en";
  const response = await fetch(`/i18n/${boot.lang.startsWith("zh") ? "zh-Hans" : "en"}.json`);
  s.words.value = await response.json();
  fetch("/api/registry").then((r) => r.json()).then((found) => { s.registry.value = found; }).catch(() => { /* menus stay short */ });
  for (const [id, part] of Object.entries({ title: Title, bars: Bars, say: Sentence, tabs: Tabs, transport: Transport, rail: Rail, helpbox: Help, hits: Hits, why: Why })) render(html`<${part} />`, at(id));
  stage.mount(at("stage"), { drawn: (shown) => { drawn.value = shown; } });
  const channel = connect({ csrf: document.body.dataset.csrf, onConnect: arrive, onLost: lose });
  use(channel);
  useAsk(channel.ask);
  listen();
  effect(follow);
  effect(announce);
  effect(() => { loadCards(s.facts.value?.profile); });
  addEventListener("popstate", back);
}

const Bars = () => html`<${Violation} /><${Connection} /><${Notice} />`;

/** Connected, for the first time or again: the run is opened by its name, or told by its text. */
async function arrive() {
  s.online.value = true;
  s.offlineSince.value = null;
  const here = s.tapeNow.value;
  try {
    if (here) await reopen(here);
    else await first();
    document.body.dataset.ready = "1";
  } catch (problem) {
    s.notice.value = { kind: "bad", text: problem instanceof Refused ? problem.message : s.t.value("offline.wait") };
    document.body.dataset.ready = "1";
  }
}

async function first() {
  const step = Number(new URLSearchParams(location.search).get("step") ?? boot.step ?? 0) || 0;
  const text = await fromFragment();
  if (text) {
    try { await open({ text, step }); return; } catch (problem) {
      s.notice.value = { kind: "warn", text: `${s.t.value("run.unreadable")} ${problem.message}` };
    }
  }
  await open({ run: boot.run, step });
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

function lose() {
  s.online.value = false;
  s.offlineSince.value ??= performance.now();
}

/** The address says what is seen: the run, the step; a run not saved travels in the fragment. */
async function follow() {
  const on = s.tapeNow.value;
  const n = s.n.value;
  void s.revision.value;
  if (!on) return;
  const keep = new URLSearchParams(location.search);
  keep.delete("lang");
  if (n > 0) keep.set("step", n); else keep.delete("step");
  keep.delete("profile");
  const own = on.saved === false;
  if (!own && !on.parent && on.digest !== boot.run) keep.set("profile", on.facts.profile);
  const path = own ? home : on.parent ? `/r/${on.digest}` : home;
  if (own && on.text) on.packed ??= await pack(on.text);
  if (s.tapeNow.value !== on || s.n.value !== n) return;
  const url = `${path}${keep.size ? `?${keep}` : ""}${own && on.packed ? `#run=${on.packed}` : ""}`;
  // A branch is a place one can come back from; a step is not.
  const state = { run: on.digest };
  if (told && told !== on.digest) history.pushState(state, "", url);
  else if (url !== location.pathname + location.search + location.hash || !history.state) history.replaceState(state, "", url);
  told = on.digest;
  for (const link of document.querySelectorAll("[data-keep-place]")) link.href = `?${new URLSearchParams({ ...Object.fromEntries(keep), lang: link.hreflang.slice(0, 2) })}${location.hash}`;
}

/** The browser's own way back: to the run and the step an address spoke of. */
function back(event) {
  const run = event.state?.run;
  const step = Number(new URLSearchParams(location.search).get("step") ?? 0);
  if (run && s.tapes.value.some((one) => one.digest === run)) {
    told = run;
    if (run !== s.run.value) switchTo(run);
  }
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
