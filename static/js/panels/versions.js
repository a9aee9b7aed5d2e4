// The strip over a run: how its script ends under every Kafka, neighbours that end alike together.

import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { useEffect } from "preact/hooks";

import { complain, open } from "../animator/player.js";
import { release, releases, side, SIDES, wanted } from "../animator/reality.js";
import * as s from "../animator/state.js";
import { lasting } from "../core/kept.js";
import { Icon } from "./common.js";

const found = signal({ name: null, parts: [] });

/** Kind of a verdict -> its sign; its words stand in the tooltip. */
const SIGN = { lost: "✖", broken: "!", gone: "–", unavailable: "…", kept: "✔", untested: "·" };

async function load(name) {
  try {
    const answer = await (await fetch(lasting(`/s/${name}/endings.json`))).json();
    found.value = { name, parts: answer.ok ? answer.endings : [] };
  } catch {
    found.value = { name, parts: [] }; // the run itself needs no strip
  }
}

const nameOf = (facts) => facts.scenario.slug || facts.scenario.digest;

/** The same script under another Kafka, from the move one stands at. */
async function playUnder(profile) {
  const { scenario, seed, chapters } = s.facts.value;
  const line = chapters.findLastIndex(([step]) => step <= s.n.value);
  try {
    const answer = await open({ scenario: nameOf(s.facts.value), profile, seed, step: 0 });
    const at = answer.facts.chapters[line]?.[0];
    if (scenario.digest === answer.facts.scenario.digest && at)
      s.n.value = Math.min(at, answer.facts.total);
  } catch (problem) {
    complain(problem);
  }
}

/** Of a part the Kafka the scenario names, or the newest. */
const choice = (part, named) =>
  part.profiles.find((one) => named.includes(one)) ?? part.profiles.at(-1);

/** Another release that was recorded, from the move one stands at. */
async function playOn(kafka) {
  wanted.value = kafka;
  const profile = s.boot.value.seen.profiles[kafka];
  if (profile !== s.facts.value.profile) await playUnder(profile);
}

/** The run, real brokers, or both; under a Kafka that was not recorded, one that was. */
async function look(one) {
  if (one !== "model" && !release.value) await playOn(releases.value[0]);
  s.beside.value = one;
}

const Sides = ({ t }) =>
  html`<div class="segments sides" role="group" aria-label=${t("seen.sides")}>
      ${SIDES.map(
        (one) =>
          html`<button
            key=${one}
            type="button"
            aria-pressed=${side.value === one ? "true" : "false"}
            onClick=${() => look(one)}
          >
            ${t(`seen.side.${one}`)}
          </button>`,
      )}
    </div>
    ${
      side.value !== "model" &&
      releases.value.length > 1 &&
      html`<select
        aria-label=${t("seen.releases")}
        value=${release.value}
        onChange=${(e) => playOn(e.target.value)}
      >
        ${releases.value.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select>`
    }`;

/** What real brokers did with this script; of another script nothing is known. */
function Seen({ t }) {
  if (!releases.value.length) return null;
  const { seen } = s.boot.value;
  const { equal, explained, href } = seen;
  const words =
    t("seen.badge", { releases: seen.releases.join(t("seen.and")), equal }) +
    (explained ? `, ${t("seen.badge.explained", { n: explained })}` : "");
  return html`<div class="reals">
    <a class="seenreal" href=${href} title=${words} aria-label=${words}
      ><${Icon} name="tick" /><span class="wide">${t("seen.badge.short")}</span></a
    >
    <${Sides} t=${t} />
  </div>`;
}

export function Versions() {
  const t = s.t.value;
  const facts = s.facts.value;
  void s.revision.value; // saving a run says so
  const known = facts?.scenario.slug || s.tapeNow.value?.saved;
  const name = facts?.script && known ? nameOf(facts) : null; // else the server has not got it
  useEffect(() => {
    if (name && found.peek().name !== name) load(name);
  }, [name]);
  const { parts } = found.value;
  const strip = name && found.value.name === name && parts.length > 1 ? parts : [];
  const real = facts && s.boot.value.seen ? html`<${Seen} t=${t} />` : null;
  if (!strip.length && !real) return null;
  return html`<div class="versions" role="group" aria-label=${t("versions.label")}>
    ${strip.map((part) => {
      const here = part.profiles.includes(facts.profile);
      const words = t(`versions.${part.kind}`, { span: part.span });
      return html`<button
        key=${part.profiles[0]}
        type="button"
        class=${`version ${part.kind}`}
        aria-pressed=${here ? "true" : "false"}
        aria-label=${words}
        title=${words}
        onClick=${() => !here && playUnder(choice(part, facts.scenario.profiles ?? []))}
      >
        <span>${part.span}</span><b aria-hidden="true">${SIGN[part.kind]}</b>
      </button>`;
    })}
    ${real}
  </div>`;
}
