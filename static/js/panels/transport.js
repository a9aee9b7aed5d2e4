// The controls of time: back, on, play, step size, speed.

import { html } from "htm/preact";

import { act } from "../animator/acting.js";
import { setSize } from "../animator/choose.js";
import { goTo, stepBy } from "../animator/player.js";
import { play } from "../animator/playing.js";
import * as s from "../animator/state.js";
import { Icon } from "./common.js";
import { MoveLine } from "./moveline.js";
import { TimeBox } from "./timebox.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** The sizes that have a button; the others have keys and links. */
const SIZES = ["story", "moment", "event", "detail"];

/** How far one step on goes. */
const Sizes = ({ t }) =>
  html`<div class="segments" role="radiogroup" aria-label=${t("size.label")}>
    ${[...SIZES, ...(SIZES.includes(s.size.value) ? [] : [s.size.value])].map(
      (size) =>
        html`<label key=${size} title=${t(`size.${size}.why`)}
          ><input
            type="radio"
            name="size"
            value=${size}
            checked=${s.size.value === size}
            onChange=${() => setSize(size)}
          /><span>${t(`size.${size}`)}</span></label
        >`,
    )}
  </div>`;

function Speed({ t }) {
  const setSpeed = (value) => {
    s.speed.value = value;
    s.remember("speed", value);
  };
  return html`<label class="field speed"
    >${t("time.speed")}${" "}<select
      value=${String(s.speed.value)}
      onChange=${(e) => setSpeed(Number(e.target.value))}
    >
      ${SPEEDS.map(
        (v) =>
          html`<option key=${v} value=${String(v)}>
            ${v === 0.25 ? "¼" : v === 0.5 ? "½" : v}×
          </option>`,
      )}
    </select></label
  >`;
}

export function Transport() {
  const t = s.t.value;
  const facts = s.facts.value;
  const total = facts?.total ?? 0;
  const goes = s.playing.value || s.living.value;
  const start = s.n.value <= 0 && s.cue.value === null;
  const end = s.n.value >= total;
  // Where the clock was let go, there is always more: a step on lets it run to its next event.
  const runs = end && s.tapeNow.value?.pace && s.step.value?.view.fetching === "auto";
  const on = () => (runs ? act("+1", { pace: true }) : stepBy(1));
  const button = (name, key, run, off, cls = "") =>
    html`<button
      type="button"
      class=${`btn square ${cls}`}
      aria-label=${t(key)}
      title=${t(key)}
      disabled=${off}
      onClick=${run}
    >
      <${Icon} name=${name} />
    </button>`;
  return html`<div class="transport" role="group" aria-label=${t("time.label")}>
    <div class="row tight">
      ${button("first", "time.first", () => goTo(0, { leaveCrumb: true }), start)}
      ${button("prev", "time.back", () => stepBy(-1), start)}
      <button
        type="button"
        class="btn play"
        aria-label=${t(goes ? "time.pause" : "time.play")}
        onClick=${play}
      >
        <${Icon} name=${goes ? "pause" : "play"} /><span class="wide"
          >${t(goes ? "time.pause" : "time.play")}</span
        >
      </button>
      ${button("next", "time.on", on, end && !runs, "primary")}
      ${button("last", "time.last", () => goTo(total, { leaveCrumb: true }), end)}
      ${s.phone.value && html`<${TimeBox} />`}
    </div>
    <${Sizes} t=${t} /><${Speed} t=${t} />
    ${!s.phone.value && html`<${TimeBox} />`}
    ${
      s.crumb.value &&
      s.crumb.value.run === s.run.value &&
      html`<button
        type="button"
        class="btn quiet"
        onClick=${() => {
          const c = s.crumb.value;
          s.crumb.value = null;
          goTo(c.n);
        }}
      >
        <${Icon} name="restart" />${t("time.crumb", { n: s.crumb.value.n })}
      </button>`
    }
    ${!s.phone.value && html`<${MoveLine} />`}
  </div>`;
}
