// Everything that few visitors need at first sight: panels, steps, the picture, time, other tools.

import { html } from "htm/preact";

import { pick } from "../animator/choose.js";
import { help } from "../animator/on_request.js";
import * as predicting from "../animator/predicting.js";
import { present } from "../animator/speaking.js";
import * as s from "../animator/state.js";
import { alone } from "../core/place.js";
import { kafka } from "../i18n/words.js";
import { playUnder, Release } from "./release.js";
import { Part, Picture, Steps, Time } from "./sheetparts.js";
import { compareWith } from "./title.js";

/** Asked here where that can be, else on a page of its own.  A class is asked by who leads it. */
function predictHere(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || !predicting.can()) return;
  event.preventDefault();
  s.sheet.value = null;
  predicting.begin();
}

/** What else can be done with this run. */
function Tools({ t, close }) {
  const facts = s.facts.value;
  const step = s.n.value;
  const links = [
    ["compare.go", compareWith(facts), s.phone.value],
    ["title.scale", `/batch?run=${facts.digest}`, !alone()],
    ["edit.record", `/edit?run=${facts.digest}`, true],
    ["whatif.link", `/r/${facts.digest}/whatif?step=${step}`, true],
    ["explore.link", `/explore/${facts.digest}?step=${step}`, true],
  ];
  const act = (key, run) =>
    html`<button
      type="button"
      class="btn"
      onClick=${() => {
        close();
        run();
      }}
    >
      ${t(key)}
    </button>`;
  return html`<${Part} title=${t("title.more.run")}>
    <div class="row">
      ${links.map(
        ([key, href, shown]) => shown && html`<a key=${key} class="btn" href=${href}>${t(key)}</a>`,
      )}
      ${
        !s.classroom.value &&
        html`<a
          class="btn"
          id="predict"
          href=${`/practice/question?run=${facts.digest}&step=${step}`}
          title=${t("predict.why")}
          onClick=${predictHere}
          >${t("predict.go")}</a
        >`
      }
      ${act("present.go", present)} ${act("help.title", help)}
    </div>
  <//>`;
}

/** Every release there is; those the scenario promises something for come first. */
function Releases({ facts, t }) {
  const known = s.registry.value.profiles ?? [];
  const mine = facts.scenario.profiles ?? [];
  const flipped = [...new Set([...mine, facts.profile])]
    .filter((name) => !known.some((p) => p.name === name))
    .map((name) => ({ name, stands_for: "" }));
  const all = [...known, ...flipped].sort((a, b) => mine.includes(b.name) - mine.includes(a.name));
  return html`<${Part} title=${t("title.profile")}>
    ${s.phone.value && html`<${Release} />`}
    <select
      id="profile"
      aria-label=${t("title.more.release")}
      value=${facts.profile}
      onChange=${(e) => playUnder(e.target.value)}
    >
      ${all.map(
        (p) =>
          html`<option key=${p.name} value=${p.name} title=${p.name}>
            ${mine.includes(p.name) ? "" : "· "}${p.stands_for || kafka(t, p.name)}
          </option>`,
      )}
    </select>
  <//>`;
}

/** The panels of the drawer, each one press away from here. */
const Panels = ({ t, close }) =>
  html`<${Part} title=${t("tabs.label")}>
    <div class="row">
      ${s.TABS.map(
        (name) =>
          html`<button
            key=${name}
            type="button"
            class="btn"
            onClick=${() => {
              close();
              pick(name, true);
            }}
          >
            ${t(`tab.${name}`)}
          </button>`,
      )}
    </div>
  <//>`;

export function MoreSheet({ close }) {
  const t = s.t.value;
  const facts = s.facts.value;
  if (!facts) return null;
  return html`${!s.level.value && html`<${Releases} facts=${facts} t=${t} />`}
    <${Panels} t=${t} close=${close} />
    <${Tools} t=${t} close=${close} />
    <${Steps} t=${t} />
    <${Picture} t=${t} close=${close} />
    <${Time} t=${t} close=${close} />`;
}
