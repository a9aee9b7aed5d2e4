// Two runs in lock-step: both stages, what differs, and the way from one difference to the next.

import { changes } from "../core/changes.js";
import {
  differing,
  elements,
  firstDifference,
  moving,
  nextDifference,
  offsets,
} from "../core/lockstep.js";
import { inTurn, knows, namer, plain, translator } from "../i18n/words.js";
import { patch, SVG } from "../scene/draw.js";
import { PATTERNS, picture } from "../scene/picture.js";
import { measureOnPage } from "../scene/sheet.js";

const PAGE = 48;
const SHOWN = 6;
const boot = JSON.parse(document.getElementById("boot").textContent);
const zh = boot.lang.startsWith("zh");
const sides = {};
let words,
  t,
  found,
  at = 0;

const make = (tag, cls = "", text = "") =>
  Object.assign(document.createElement(tag), { className: cls, textContent: text });
const button = (text, act, cls = "") => {
  const b = Object.assign(make("button", `btn ${cls}`, text), { type: "button" });
  b.addEventListener("click", act);
  return b;
};

/** One run: its steps as they are asked for, and the place it is drawn in. */
function side(letter, facts) {
  const root = make("section", "side");
  const head = root.appendChild(make("header"));
  head.append(make("h2", "", `${letter} · ${facts.profile}`));
  const where = head.appendChild(make("span", "soft"));
  const open = head.appendChild(
    Object.assign(make("a", "", t("compare.open", { profile: facts.profile })), {
      href: `/r/${facts.digest}`,
    }),
  );
  const scene = root.appendChild(make("div", "scene"));
  const layers = ["logs", "over"].map((cls) => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", cls);
    scene.append(svg);
    return svg.appendChild(document.createElementNS(SVG, "g"));
  });
  if (letter === "A")
    layers[0].parentNode.insertAdjacentHTML("afterbegin", `<defs>${PATTERNS}</defs>`); // once for both
  layers[1].parentNode.setAttribute("aria-hidden", "true");
  const what = root.appendChild(make("p", "what"));
  const rules = root.appendChild(make("p", "rules"));
  return { facts, root, where, open, scene, layers, what, rules, steps: new Map() };
}

async function stepOf(one, n) {
  if (!one.steps.has(n)) {
    const answer = await (
      await fetch(`/r/${one.facts.digest}/steps.json?from=${Math.max(0, n - 1)}&count=${PAGE}`)
    ).json();
    if (!answer.ok) throw new Error(answer.sentence ?? "");
    for (const step of answer.steps) one.steps.set(step.n, step);
  }
  const step = one.steps.get(n);
  const before = one.steps.get(n - 1);
  if (before && !step.changed) step.changed = changes(before.view, step.view);
  return step;
}

function sentence(one, step) {
  const env = { t, name: namer(t, step.view.brokers) };
  return step.say.length
    ? inTurn(step.say.map((entry) => plain(words, entry, env)))
    : step.n === 0
      ? t("step.start")
      : step.move;
}

function draw(one, step, goes) {
  const name = namer(t, step.view.brokers);
  const width = Math.max(640, one.scene.clientWidth);
  const { geo, logs, over } = picture(step, { width, t, name });
  for (const layer of one.layers) {
    layer.parentNode.setAttribute("width", geo.width);
    layer.parentNode.setAttribute("height", geo.height);
    layer.parentNode.setAttribute("viewBox", `0 0 ${geo.width} ${geo.height}`);
  }
  patch(one.layers[0], logs);
  patch(one.layers[1], over);
  one.where.textContent = t("compare.of", {
    profile: one.facts.profile,
    n: step.n,
    total: one.facts.total,
  });
  one.open.href = `/r/${one.facts.digest}?step=${step.n}`;
  one.what.textContent = goes
    ? sentence(one, step)
    : t("compare.idle", { profile: one.facts.profile });
  one.what.classList.toggle("idle", !goes);
  const rules = [...new Set(step.cues.map((cue) => cue.rule.split(".")[0]))];
  one.rules.textContent = goes ? rules.join(" · ") : "";
  one.root.dataset.step = step.n;
}

/** Rings around what differs, on both stages. */
function mark(what) {
  for (const one of [sides.a, sides.b]) {
    for (const el of one.scene.querySelectorAll(".differs")) el.classList.remove("differs");
    for (const [thing, a, b] of what) {
      const log = /^b(\d+):log$/.exec(thing);
      const ids = log ? offsets(a, b).map((o) => `b${log[1]}:o${o}`) : elements(thing);
      for (const id of ids)
        for (const el of one.scene.querySelectorAll(`[data-id="${CSS.escape(id)}"]`))
          el.classList.add("differs");
    }
  }
}

function told(thing, a, b, name) {
  const [who, field] = thing.replace(/^p\d+\//, "").split(":");
  const state = (v) =>
    ["role", "alive"].includes(field) && knows(words, `${field}.${v}`)
      ? t(`${field}.${v}`)
      : String(v);
  const value = (v) =>
    v === null || v === undefined
      ? "–"
      : Array.isArray(v)
        ? `[${v.map((one) => name(one, true)).join(", ")}]`
        : field === "leader"
          ? v < 0
            ? "–"
            : name(v, true)
          : v === ""
            ? "–"
            : state(v);
  const owner = who === "rec" ? "" : `${name(who.slice(1))} `;
  if (field === "log")
    return `${owner}${t("compare.thing.log")} ${offsets(a, b).slice(0, SHOWN).join(", ")}`;
  return `${owner}${t(`compare.thing.${field}`)} ${value(a)} ≠ ${value(b)}`;
}

function tell(what, step) {
  const line = sides.line;
  line.replaceChildren();
  line.classList.toggle("same", what.length === 0);
  const name = namer(t, step.view.brokers);
  if (!what.length)
    line.append(
      make(
        "b",
        "",
        t(found.parts.some((part) => part.what.length) ? "compare.same" : "compare.whole"),
      ),
    );
  else {
    line.append(make("b", "", t("compare.differs")));
    const list = line.appendChild(make("ul"));
    for (const [thing, a, b] of what.slice(0, SHOWN))
      list.append(make("li", "", told(thing, a, b, name)));
    if (what.length > SHOWN)
      list.append(make("li", "", t("compare.more", { n: what.length - SHOWN })));
  }
  const next = nextDifference(found.parts, at);
  if (next >= 0)
    line.append(
      button(
        t(at < firstDifference(found.parts) ? "compare.first" : "compare.next"),
        () => go(next),
        "primary",
      ),
    );
}

async function go(to) {
  at = Math.max(0, Math.min(found.pairs.length - 1, to));
  const [a, b] = found.pairs[at];
  const here = at;
  const [left, right] = await Promise.all([stepOf(sides.a, a), stepOf(sides.b, b)]);
  if (here !== at) return;
  const goes = moving(found.pairs, at);
  draw(sides.a, left, goes.a);
  draw(sides.b, right, goes.b);
  const what = differing(found.parts, at);
  mark(what);
  tell(what, left);
  sides.range.value = at;
  sides.range.setAttribute(
    "aria-valuetext",
    t("compare.pair", { n: at, total: found.pairs.length - 1 }),
  );
  sides.count.textContent = `${at} / ${found.pairs.length - 1}`;
  document.getElementById("both").dataset.at = at;
  document.getElementById("live").textContent = [
    t("compare.pair", { n: at, total: found.pairs.length - 1 }),
    `A: ${sides.a.what.textContent}`,
    `B: ${sides.b.what.textContent}`,
    sides.line.querySelector("b").textContent,
  ].join(" ");
  const query = new URLSearchParams({ with: boot.with, at });
  if (boot.step) query.set("step", boot.step);
  if (zh) query.set("lang", "zh");
  history.replaceState(null, "", `?${query}`);
}

function keys(event) {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)
  )
    return;
  const act = {
    ArrowRight: () => go(at + 1),
    ArrowLeft: () => go(at - 1),
    Home: () => go(0),
    End: () => go(found.pairs.length - 1),
    n: () => {
      const next = nextDifference(found.parts, at);
      if (next >= 0) go(next);
    },
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

async function begin() {
  words = await (await fetch(document.getElementById("words").href)).json();
  t = translator(words, zh ? "zh" : "en");
  measureOnPage();
  found = await (
    await fetch(`/r/${boot.a}/compare.json?with=${encodeURIComponent(boot.with)}`)
  ).json();
  const both = document.getElementById("both");
  if (!found.ok) throw new Error(found.sentence ?? t("offline.wait"));
  sides.a = side("A", found.a);
  sides.b = side("B", found.b);
  sides.line = make("div", "verdictline");
  const frame = make("div", "sides");
  frame.append(sides.a.root, sides.line, sides.b.root);
  const bar = make("div", "lockstep");
  sides.range = Object.assign(make("input"), {
    type: "range",
    min: 0,
    max: found.pairs.length - 1,
  });
  sides.range.setAttribute("aria-label", t("rail.label"));
  sides.range.addEventListener("input", () => go(Number(sides.range.value)));
  sides.count = make("span", "num");
  bar.append(
    button(t("time.back"), () => go(at - 1)),
    button(t("time.on"), () => go(at + 1), "primary"),
    sides.range,
    sides.count,
  );
  both.append(frame, bar);
  if (found.cut) both.append(make("p", "note warn", t("compare.cut")));
  await go(boot.at ?? Math.max(0, firstDifference(found.parts)));
  both.removeAttribute("aria-busy");
  addEventListener("keydown", keys);
  addEventListener("resize", () => go(at));
  document.body.dataset.ready = "1";
}

begin().catch((problem) => {
  const box = document.getElementById("problem");
  box.hidden = false;
  box.textContent = problem.message;
  document.body.dataset.ready = "1";
});
