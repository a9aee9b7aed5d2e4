// The deck: play, back, on, the beats, undo, and what breaks something.

import { html } from "htm/preact";

import { lastMove, undo } from "../animator/acting.js";
import { play } from "../animator/playing.js";
import * as s from "../animator/state.js";
import { atEnd, onward } from "../animator/stepping.js";
import { BreakIt } from "./breakit.js";
import { Icon } from "./common.js";
import { Palette } from "./palette.js";
import { Rail } from "./rail.js";

export function Transport() {
  const t = s.t.value;
  const goes = s.playing.value || s.living.value;
  const pass = s.level.value && !goes && s.n.value >= (s.facts.value?.total ?? 0);
  const label = t(goes ? "time.pause" : pass ? "level.wait" : "time.play");
  const start = s.n.value <= 0 && s.cue.value === null;
  const button = (name, key, run, off, cls = "square") =>
    html`<button
      type="button"
      class=${`btn ${cls}`}
      aria-label=${t(key)}
      title=${t(key)}
      disabled=${off}
      onClick=${run}
    >
      <${Icon} name=${name} />
    </button>`;
  return html`<div class="transport" role="group" aria-label=${t("time.label")}>
    <button type="button" class="btn primary play" aria-label=${label} onClick=${play}>
      <${Icon} name=${goes ? "pause" : "play"} /><span class="wide">${label}</span>
    </button>
    ${button("prev", "time.back", () => onward(-1), start)}
    ${button("next", "time.on", () => onward(1), atEnd.value)}
    <${Rail} />
    ${
      lastMove.value &&
      html`<button type="button" class="btn undo" title=${t("key.undo")} onClick=${undo}>
        <${Icon} name="restart" /><span class="wide">${t("time.undo")}</span>
      </button>`
    }
    <${BreakIt} /><${Palette} />
  </div>`;
}
