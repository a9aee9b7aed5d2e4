// What the editor holds: one scenario, as a value for the form and as text.  Either side changes
// it.

import { batch, computed, signal } from "@preact/signals";

import { post } from "../core/post.js";
import { translator } from "../i18n/words.js";

export const words = signal({});
export const lang = signal("en");
export const t = computed(() => translator(words.value, lang.value));
export const doc = signal(null); // the last value that could be read
export const text = signal("");
export const problems = signal([]); // {line, column, sentence, script?}
export const offers = signal({
  configs: [],
  profiles: [],
  invariants: [],
  faults: [],
  tags: [],
  verbs: [],
});
export const asks = signal([]); // lines of a recorded run that want a comment: {script, sentence}
export const outcomes = signal([]); // what happened under each profile
export const notice = signal(null); // {kind, text, link?}
export const busy = signal(false);
export const checking = signal(false); // the last change is not checked yet
export const readable = computed(() => problems.value.length === 0);

const WAIT_MS = 350;
const MOST_UNDO = 200;
const BURST_MS = 1000; // what is typed within it is undone at once
let timer = 0;
let ticket = 0;
let waiting = null; // the change that is to be checked: [body, fromForm]
let checked = Promise.resolve(); // settles with the latest check

/** Texts to go back to, and those undone, the nearest last. */
const past = signal([]);
const undone = signal([]);
let typedAt = 0;
export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => undone.value.length > 0);

/** The form changed something: the text follows once the server has written it. */
export function change(more) {
  keep();
  doc.value = { ...doc.value, ...more };
  outcomes.value = [];
  later({ scenario: doc.value }, true);
}

/** The text was typed in: the form follows where it can be read. */
export function typed(value) {
  if (performance.now() - typedAt > BURST_MS) keep();
  typedAt = performance.now();
  replace(value);
}

/** Another text takes the place of this one, as a template does. */
export function begin(value) {
  keep();
  replace(value);
}

/** Notes the text before it changes. */
function keep() {
  typedAt = 0;
  if (past.value.at(-1) === text.value) return;
  past.value = [...past.value, text.value].slice(-MOST_UNDO);
  undone.value = [];
}

/** One change back, or on again. */
export const undo = () => restore(past, undone);
export const redo = () => restore(undone, past);

async function restore(from, to) {
  await settled();
  const value = from.value.at(-1);
  if (value === undefined) return;
  batch(() => {
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, text.value];
  });
  typedAt = 0;
  replace(value);
}

function replace(value) {
  text.value = value;
  outcomes.value = [];
  later({ yaml: value }, false);
}

function later(body, fromForm) {
  clearTimeout(timer);
  ticket += 1;
  checking.value = true;
  waiting = [body, fromForm];
  timer = setTimeout(settled, WAIT_MS);
}

/** Resolves once the latest change is checked and form and text agree. */
export function settled() {
  if (waiting) {
    clearTimeout(timer);
    const [body, fromForm] = waiting;
    waiting = null;
    checked = check(body, fromForm);
  }
  return checked;
}

async function check(body, fromForm) {
  const mine = ++ticket;
  try {
    const said = await post("/api/scenarios/check", body);
    if (mine !== ticket) return; // something was changed meanwhile: its own answer is coming
    batch(() => {
      checking.value = false;
      problems.value = said.problems;
      if (fromForm) text.value = said.yaml;
      else if (said.scenario) doc.value = said.scenario;
      if (notice.value?.kind !== "ok") notice.value = null;
    });
  } catch (problem) {
    if (mine !== ticket) return;
    notice.value = { kind: "warn", text: problem.message || t.value("offline.wait") };
    checking.value = false;
    if (problem.code === "slow_down") later(body, fromForm);
  }
}

/** Does something that takes a moment, once at a time; a refusal is said and nothing is lost. */
export async function during(act) {
  if (busy.value) return;
  busy.value = true;
  notice.value = null;
  try {
    await act();
  } catch (problem) {
    notice.value = { kind: "warn", text: problem.message || t.value("offline.wait") };
  }
  busy.value = false;
}
