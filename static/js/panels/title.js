// The line over the stage: which scenario, which Kafka, and what can be done with the run.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import { setPace } from "../animator/acting.js";
import { help, share } from "../animator/on_request.js";
import { complain, open } from "../animator/player.js";
import * as predicting from "../animator/predicting.js";
import * as s from "../animator/state.js";
import { partOf } from "../core/partition.js";
import { alone } from "../core/place.js";
import { kafka } from "../i18n/words.js";
import { Icon } from "./common.js";

/** The same scenario under another Kafka: a run of its own, one key away from this one. */
export async function change(profile) {
  const { scenario, seed } = s.facts.value;
  try {
    await open({ scenario: scenario.slug || scenario.digest, profile, seed, step: 0 });
  } catch (problem) {
    complain(problem);
  }
}

/** Under which Kafka: those the scenario promises something for come first. */
function Profile({ facts, t }) {
  const known = s.registry.value.profiles ?? [];
  // Any other Kafka can be tried as well.
  const mine = facts.scenario.profiles ?? [];
  const flipped = [...new Set([...mine, facts.profile])]
    .filter((name) => !known.some((p) => p.name === name))
    .map((name) => ({ name, stands_for: "" }));
  const all = [...known, ...flipped].sort((a, b) => mine.includes(b.name) - mine.includes(a.name));
  return html`<label class="field"
    ><span class="wide">${t("title.profile")}</span
    ><select
      id="profile"
      aria-label=${t("title.profile")}
      value=${facts.profile}
      onChange=${(e) => change(e.target.value)}
    >
      ${all.map(
        (p) =>
          html`<option key=${p.name} value=${p.name} title=${p.name}>
            ${mine.includes(p.name) ? "" : "· "}${p.stands_for || kafka(t, p.name)}
          </option>`,
      )}
    </select></label
  >`;
}

function Partition({ parts, t }) {
  return html`<label class="field"
    ><span>${t("title.partition")}</span
    ><select
      value=${String(partOf({ partitions: parts }, s.partition.value).p)}
      onChange=${(e) => {
        s.partition.value = Number(e.target.value);
      }}
    >
      ${parts.map(
        (p) =>
          html`<option key=${p.p} value=${String(p.p)}>
            ${p.name}${p.gone ? ` · ${t(`ctl.${p.gone}`)}` : ""}
          </option>`,
      )}
    </select></label
  >`;
}

/** Messages wait for a hand, or the clock moves them: a switch with two states. */
const Pace = ({ fetching, t }) =>
  html`<div class="segments pace" role="group" aria-label=${t("title.pace")}>
    ${["manual", "auto"].map(
      (one) =>
        html`<button
          key=${one}
          type="button"
          aria-pressed=${(fetching ?? "manual") === one ? "true" : "false"}
          title=${t("title.fetching.why")}
          disabled=${!s.online.value}
          onClick=${() => setPace(one)}
        >
          <${Icon} name=${one === "auto" ? "clock" : "hand"} /><span class="wide"
            >${t(`title.fetching.${one}`)}</span
          >
        </button>`,
    )}
  </div>`;

/** Asked here where that can be, else on a page of its own.  A class is asked by who leads it. */
function predictHere(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || !predicting.can()) return;
  event.preventDefault();
  predicting.begin();
}

export function Title() {
  const t = s.t.value;
  const [open, setOpen] = useState(false);
  const facts = s.facts.value;
  if (!facts) return html`<div class="titlebar"><h1>…</h1></div>`;
  const parts = s.step.value?.view.partitions ?? [];
  const fetching = s.step.value?.view.fetching;
  return html`<div class="titlebar">
    <a class="brandmark" href="/" aria-label="Highwater">≈</a>
    <h1>${facts.scenario.title}</h1>
    <div class="row">
      <${Profile} facts=${facts} t=${t} />
      ${parts.length > 1 && html`<${Partition} parts=${parts} t=${t} />`}
      ${
        s.phone.value &&
        html`<button
          type="button"
          class="btn quiet square moreacts"
          aria-expanded=${open ? "true" : "false"}
          aria-label=${t("title.more")}
          onClick=${() => setOpen(!open)}
        >
          ⋯
        </button>`
      }
      <div class=${`acts ${open ? "open" : ""}`}>
        <${Pace} fetching=${fetching} t=${t} />
        ${
          !alone() &&
          html`<a class="btn minor" href=${`/batch?run=${facts.digest}`} title=${t("title.scale")}
            ><${Icon} name="chart" /><span class="wide">${t("title.scale")}</span></a
          >`
        }
        <a
          class="btn minor"
          id="compare"
          title=${t("compare.go")}
          href=${`/r/${facts.digest}/compare${s.n.value ? `?step=${s.n.value}` : ""}`}
          ><${Icon} name="compare" /><span class="wide">${t("compare.go")}</span></a
        >
        ${
          !s.classroom.value &&
          html`<a
            class="btn minor"
            id="predict"
            href=${`/learn?run=${facts.digest}&step=${s.n.value}`}
            title=${t("predict.why")}
            onClick=${predictHere}
            ><${Icon} name="eye" /><span class="wide">${t("predict.go")}</span></a
          >`
        }
        <a class="btn minor" href=${`/edit?run=${facts.digest}`} title=${t("edit.record.why")}
          ><${Icon} name="record" /><span class="wide">${t("edit.record")}</span></a
        >
        <button type="button" class="btn" aria-haspopup="dialog" onClick=${share}>
          <${Icon} name="save" /><span class="wide">${t("share.open")}</span>
        </button>
        <button
          type="button"
          class="btn quiet square"
          aria-label=${t("help.title")}
          title=${t("help.title")}
          onClick=${help}
        >
          <${Icon} name="help" />
        </button>
      </div>
    </div>
  </div>`;
}
