// One table of keys.  None is the only way; letters can be switched off under "?".

import { SIZES } from "../core/history.js";
import { faultMove } from "../core/moves.js";
import { act, switchTo, undo } from "./acting.js";
import { whySelected } from "./asking_why.js";
import { toggle } from "./bookmarks.js";
import { setSize, setView } from "./choose.js";
import { help, share } from "./on_request.js";
import { goTo, stepBy } from "./player.js";
import { play } from "./playing.js";
import { end } from "./predicting.js";
import { blank, fullScreen, leave, mode, present } from "./speaking.js";
import * as s from "./state.js";
import { onward } from "./stepping.js";

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
const violation = async () => {
  await s.tapeNow.value?.ending;
  const steps = (s.facts.value?.verdict?.broken ?? []).map((b) => b.step).sort((a, b) => a - b);
  if (steps.length) goTo(steps.find((at) => at > s.n.value) ?? steps[0], { leaveCrumb: true });
};
const COMMANDS = {
  " ": play,
  ArrowRight: () => onward(1),
  ArrowLeft: () => onward(-1),
  PageDown: () => onward(1), // the keys of a clicker
  PageUp: () => onward(-1),
  "Shift+ArrowRight": () => stepBy(1, "moment"),
  "Shift+ArrowLeft": () => stepBy(-1, "moment"),
  "]": () => stepBy(1, "chapter"),
  "[": () => stepBy(-1, "chapter"),
  Home: () => goTo(0, { leaveCrumb: true }),
  End: () => goTo(Infinity, { leaveCrumb: true }),
  "/": () => {
    s.sheet.value = "palette";
  },
  "?": () => help(),
  "{": () => branch(-1),
  "}": () => branch(1),
};
const LETTERS = {
  k: fault("k"),
  r: fault("r"),
  x: fault("x"),
  n: violation,
  u: undo,
  b: () => document.getElementById("breakit")?.click(),
  m: () => toggle(),
  f: fullScreen,
  w: () => whySelected(),
  c: () => document.getElementById("compare")?.click(),
  p: present,
  q: () => document.getElementById("askclass")?.click(),
  v: () => setView(),
  s: () => share(),
  ".": () => {
    if (mode.value === "present") blank.value = !blank.value;
    else act("+1");
  },
};
SIZES.forEach((size, i) => {
  LETTERS[String(i + 1)] = () => setSize(size);
});

/** Does this key belong to the element that has the focus? */
function isTaken(event) {
  const el = event.target;
  const empty =
    el.id === "typed" && el.value === "" && /^(Arrow(Left|Right)|Home|End)$/.test(event.key);
  const within = el.closest?.("dialog[open], .menu, .whybox, .oversheet");
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
    if (event.altKey || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key !== "z" || event.shiftKey || isTaken(event)) return;
      event.preventDefault();
      undo();
      return;
    }
    if (s.predicting.value) {
      if (event.key === "Escape") end();
      return;
    }
    if (isTaken(event)) return;
    if (event.key === "Escape" && mode.value) {
      leave();
      return;
    }
    if (event.key !== ".") blank.value = false;
    const plain =
      event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const command = COMMANDS[plain] ?? (s.letters.value ? LETTERS[plain] : undefined);
    if (!command) return;
    event.preventDefault();
    command();
  });
}
