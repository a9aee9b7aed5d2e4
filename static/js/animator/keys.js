// One table of keys.  None is the only way; letters can be switched off under "?".

import { SIZES } from "../core/history.js";
import { faultMove } from "../core/moves.js";
import { act, switchTo } from "./acting.js";
import { whySelected } from "./asking_why.js";
import { toggle } from "./bookmarks.js";
import { setSize, setView } from "./choose.js";
import { help, share } from "./on_request.js";
import { goTo, stepBy } from "./player.js";
import { play } from "./playing.js";
import { end } from "./predicting.js";
import * as s from "./state.js";

const called = (id) => (/^-?\d+$/.test(id) ? s.name.value(Number(id), true) : id);
/** A faults' key and the thing selected make a move; where they make none, what to select is
 *  said. */
const fault = (key) => () => {
  const message = s.step.value?.view.messages.find((one) => `m${one.id}` === s.selected.value);
  const move = faultMove(key, s.selected.value, message, called);
  if (move) act(move);
  else s.notice.value = { kind: "warn", text: s.t.value("key.select") };
};
const branch = (dir) => {
  const all = s.branches.value;
  const at = all.findIndex((one) => one.digest === s.run.value);
  if (all.length > 1) switchTo(all[(at + dir + all.length) % all.length].digest);
};
const violation = () => {
  const steps = (s.facts.value?.verdict?.broken ?? []).map((b) => b.step).sort((a, b) => a - b);
  if (steps.length) goTo(steps.find((at) => at > s.n.value) ?? steps[0], { leaveCrumb: true });
};
const crumb = () => {
  const c = s.crumb.value;
  if (c && c.run === s.run.value) {
    s.crumb.value = null;
    goTo(c.n);
  }
};

const COMMANDS = {
  " ": play,
  ArrowRight: () => stepBy(1),
  ArrowLeft: () => stepBy(-1),
  "Shift+ArrowRight": () => stepBy(1, "moment"),
  "Shift+ArrowLeft": () => stepBy(-1, "moment"),
  "]": () => stepBy(1, "chapter"),
  "[": () => stepBy(-1, "chapter"),
  Home: () => goTo(0, { leaveCrumb: true }),
  End: () => goTo(s.facts.value?.total ?? 0, { leaveCrumb: true }),
  "/": () => document.getElementById("typed")?.focus(),
  "?": () => help(),
  "{": () => branch(-1),
  "}": () => branch(1),
};
const LETTERS = {
  k: fault("k"),
  r: fault("r"),
  x: fault("x"),
  n: violation,
  u: crumb,
  b: () => toggle(),
  w: () => whySelected(),
  c: () => document.getElementById("compare")?.click(),
  p: () => (document.getElementById("predict") ?? document.getElementById("askclass"))?.click(),
  v: () => setView(),
  s: () => share(),
  ".": () => act("+1"),
};
SIZES.forEach((size, i) => {
  LETTERS[String(i + 1)] = () => setSize(size);
});

/** Does this key belong to the element that has the focus? */
function isTaken(event) {
  const el = event.target;
  const empty =
    el.id === "typed" && el.value === "" && /^(Arrow(Left|Right)|Home|End)$/.test(event.key);
  const within = el.closest?.("dialog[open], .menu, .whybox");
  const field = el.matches?.("input:not([type=radio]), select, textarea, [contenteditable]");
  // The rail understands arrows itself; everything else belongs to the field.
  const onRail =
    el.matches?.("input[type=range]") &&
    !["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"].includes(event.key);
  if (!empty && (within || field) && !onRail) return true;
  if (event.key === " " || event.key === "Enter")
    return Boolean(el.closest?.("button, a, summary, label, [role=tab]"));
  return Boolean(el.matches?.("input[type=radio]") && event.key.startsWith("Arrow"));
}

export function listen() {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (s.predicting.value) {
      if (event.key === "Escape") end();
      return;
    }
    if (isTaken(event)) return;
    const plain =
      event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const command = COMMANDS[plain] ?? (s.letters.value ? LETTERS[plain] : undefined);
    if (!command) return;
    event.preventDefault();
    command();
  });
}
