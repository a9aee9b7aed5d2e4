// Two runs in lock-step: both stages, what differs, and the way from one difference to the next.

import * as visits from "../animator/visits.js";
import { pageWords } from "../core/dom.js";
import { inAddress, namer, translator } from "../i18n/words.js";
import { measureOnPage } from "../scene/sheet.js";
import {
  differedBefore,
  differing,
  elements,
  firstDifference,
  moving,
  nextDifference,
  offsets,
  tellingDifference,
} from "./lockstep.js";
import { button, draw, loadCards, make, SHOWN, side, stepOf, told } from "./side.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const sides = {};
let words,
  t,
  found,
  at = 0;

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
      list.append(make("li", "", told(thing, a, b, name, { words, t })));
    if (what.length > SHOWN)
      list.append(make("li", "", t("compare.more", { n: what.length - SHOWN })));
  }
  const first = firstDifference(found.parts);
  const earlier = differedBefore(found.parts, at);
  if (earlier && first < at)
    line.append(button(t("compare.before", { n: earlier }), () => go(first), "quiet"));
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
  draw(sides.a, left, goes.a, { words, t });
  draw(sides.b, right, goes.b, { words, t });
  const what = differing(found.parts, at);
  mark(what);
  tell(what, left);
  sides.range.value = String(at);
  sides.range.setAttribute(
    "aria-valuetext",
    t("compare.pair", { n: at, total: found.pairs.length - 1 }),
  );
  sides.count.textContent = `${at} / ${found.pairs.length - 1}`;
  document.getElementById("both").dataset.at = String(at);
  document.getElementById("live").textContent = [
    t("compare.pair", { n: at, total: found.pairs.length - 1 }),
    `A: ${sides.a.what.textContent}`,
    `B: ${sides.b.what.textContent}`,
    sides.line.querySelector("b").textContent,
  ].join(" ");
  const query = new URLSearchParams(location.search); // a static site keeps the page's name in it
  query.set("with", boot.with);
  query.set("at", String(at));
  if (boot.step) query.set("step", boot.step);
  if (boot.lang !== "en") query.set("lang", inAddress(boot.lang));
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
  words = await pageWords();
  t = translator(words, boot.lang);
  measureOnPage();
  found = await (
    await fetch(`/r/${boot.a}/compare.json?with=${encodeURIComponent(boot.with)}`)
  ).json();
  const both = document.getElementById("both");
  if (!found.ok) throw new Error(found.sentence ?? t("offline.wait"));
  sides.a = side("A", found.a, { t });
  sides.b = side("B", found.b, { t });
  await Promise.all([loadCards(sides.a), loadCards(sides.b)]);
  sides.line = document.querySelector(".verdictline");
  both.append(sides.a.root, sides.b.root);
  sides.range = Object.assign(make("input"), {
    type: "range",
    min: 0,
    max: found.pairs.length - 1,
  });
  sides.range.setAttribute("aria-label", t("rail.label"));
  sides.range.addEventListener("input", () => go(Number(sides.range.value)));
  sides.count = make("span", "num");
  document.querySelector(".transport").append(
    button(t("time.back"), () => go(at - 1)),
    button(t("time.on"), () => go(at + 1), "primary"),
    sides.range,
    sides.count,
  );
  if (found.cut) both.append(make("p", "note warn", t("compare.cut")));
  const place = document.getElementById("path");
  if (place) visits.mark(place.dataset.key);
  await go(boot.at ?? Math.max(0, tellingDifference(found.parts)));
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
