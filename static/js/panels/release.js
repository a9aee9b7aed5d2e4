// The releases of Kafka as a slider: where this script loses a record, and where it keeps it.

import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { complain, open } from "../animator/player.js";
import * as s from "../animator/state.js";
import { lasting } from "../core/kept.js";
import { kafka } from "../i18n/words.js";

const SETTLES_MS = 250; // between two places of the slider
const endings = signal({ name: null, parts: [] });

const nameOf = (facts) => facts.scenario.slug || facts.scenario.digest;

async function load(name) {
  try {
    const answer = await (await fetch(lasting(`/s/${name}/endings.json`))).json();
    endings.value = { name, parts: answer.ok ? answer.endings : [] };
  } catch {
    endings.value = { name, parts: [] }; // the slider stays without colours
  }
}

/** The same script under another release, from the move at which the page stands. */
export async function playUnder(profile) {
  const { scenario, seed, chapters } = s.facts.value;
  const line = chapters.findLastIndex(([step]) => step <= s.n.value);
  try {
    const asked = { scenario: nameOf(s.facts.value), profile, seed, step: 0, early: false };
    const answer = await open(asked);
    const at = answer.facts.chapters[line]?.[0];
    if (scenario.digest === answer.facts.scenario.digest && at)
      s.n.value = Math.min(at, answer.facts.total);
  } catch (problem) {
    complain(problem);
  }
}

/** Releases with a place on the slider: one of each generation, and those of the scenario. */
function places(facts) {
  const known = s.registry.value.profiles ?? [];
  const mine = facts.scenario.profiles ?? [];
  const newest = known.at(-1)?.name;
  const shown = known.filter(
    ({ name }) => /^[ZK]\d/.test(name) || mine.includes(name) || name === newest,
  );
  return shown.some(({ name }) => name === facts.profile)
    ? shown
    : [...shown, { name: facts.profile, stands_for: kafka(s.t.value, facts.profile) }];
}

const short = (place) => place.stands_for.replace("Kafka ", "");

export function Release() {
  const t = s.t.value;
  const facts = s.facts.value;
  void s.revision.value; // saving a run makes its endings known
  const known = facts?.scenario.slug || s.tapeNow.value?.saved;
  const name = facts?.script && known ? nameOf(facts) : null;
  const [moved, setMoved] = useState(null);
  const wait = useRef(null);
  useEffect(() => {
    if (name && endings.peek().name !== name) load(name);
  }, [name]);
  useEffect(() => setMoved(null), [facts?.profile]);
  if (!facts) return null;
  const all = places(facts);
  if (all.length < 2) return null;
  const parts = name && endings.value.name === name ? endings.value.parts : [];
  const kindOf = (profile) => parts.find((part) => part.profiles.includes(profile))?.kind ?? "";
  const here = all.findIndex((one) => one.name === facts.profile);
  const at = moved ?? here;
  const kind = kindOf(all[at].name);
  const end = kind && kind !== "untested" ? ` · ${t(`release.${kind}`)}` : "";
  const choose = (event) => {
    const to = Number(event.target.value);
    setMoved(to);
    clearTimeout(wait.current);
    wait.current = setTimeout(() => to !== here && playUnder(all[to].name), SETTLES_MS);
  };
  const share = 100 / (all.length - 1);
  const colours = all.map((one, i) => {
    const tone = `var(--end-${kindOf(one.name) || "none"})`;
    return `${tone} ${(i - 0.5) * share}%, ${tone} ${(i + 0.5) * share}%`;
  });
  return html`<label class=${`release ${kind}`}
    ><span class="named" title=${all[at].stands_for}>${short(all[at])}${end}</span
    ><input
      type="range"
      min="0"
      max=${all.length - 1}
      value=${at}
      aria-label=${t("title.profile")}
      aria-valuetext=${`${all[at].stands_for}${end}`}
      data-profile=${facts.profile}
      style=${`--track:linear-gradient(to right, ${colours.join(", ")})`}
      onInput=${choose}
  /></label>`;
}
