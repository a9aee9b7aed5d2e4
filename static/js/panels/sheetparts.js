// Parts of the sheet behind ⋯: how far a step goes, how the picture is drawn, and time.

import { html } from "htm/preact";

import { setPace } from "../animator/acting.js";
import { note, notes, toggle } from "../animator/bookmarks.js";
import { setLayer, setSize, setView, views } from "../animator/choose.js";
import { goTo } from "../animator/player.js";
import { goUntil } from "../animator/playing.js";
import { fullScreen } from "../animator/speaking.js";
import * as s from "../animator/state.js";
import { LAYERS } from "../scene/layers.js";
import { Add, Breakpoints } from "./breakpoints.js";
import { Icon } from "./common.js";
import { RealBrokers } from "./realbrokers.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];
const SIZES = ["story", "chapter", "moment", "event", "detail"];
const UNTIL = ["moment", "chapter", "violation", "break"];

export const Part = ({ title, children }) =>
  html`<section>
    <h3>${title}</h3>
    ${children}
  </section>`;

/** A few choices of which one holds. */
const Segments = ({ label, name, value, options, onChange }) =>
  html`<div class="segments" role="radiogroup" aria-label=${label}>
    ${options.map(
      ([id, words, why]) =>
        html`<label key=${id} title=${why}
          ><input
            type="radio"
            name=${name}
            value=${id}
            checked=${value === id}
            onChange=${() => onChange(id)}
          /><span>${words}</span></label
        >`,
    )}
  </div>`;

/** How far a step goes, how fast, and who delivers messages. */
export function Steps({ t }) {
  const fetching = s.step.value?.view.fetching ?? "manual";
  return html`<${Part} title=${t("size.label")}>
    <${Segments}
      label=${t("size.label")}
      name="size"
      value=${s.size.value}
      options=${SIZES.map((size) => [size, t(`size.${size}`), t(`size.${size}.why`)])}
      onChange=${setSize}
    />
    <div class="row">
      <label class="field"
        >${t("time.speed")}${" "}<select
          value=${String(s.speed.value)}
          onChange=${(e) => {
            s.speed.value = Number(e.target.value);
            s.remember("speed", e.target.value);
          }}
        >
          ${SPEEDS.map(
            (v) =>
              html`<option key=${v} value=${String(v)}>
                ${v === 0.25 ? "¼" : v === 0.5 ? "½" : v}×
              </option>`,
          )}
        </select></label
      >
      <div class="segments pace" role="group" aria-label=${t("title.pace")}>
        ${["manual", "auto"].map(
          (one) =>
            html`<button
              key=${one}
              type="button"
              aria-pressed=${fetching === one ? "true" : "false"}
              title=${t("title.fetching.why")}
              disabled=${!s.online.value}
              onClick=${() => setPace(one)}
            >
              ${t(`title.fetching.${one}`)}
            </button>`,
        )}
      </div>
    </div>
  <//>`;
}

/** The view, its layers, and how large it is. */
export const Picture = ({ t, close }) =>
  html`<${Part} title=${t("corner.label")}>
    <div class="row">
      <label class="field"
        ><span class="sr">${t("corner.view")}</span
        ><select id="view" value=${s.view.value} onChange=${(e) => setView(e.target.value)}>
          ${views().map(
            (name) => html`<option key=${name} value=${name}>${t(`corner.${name}`)}</option>`,
          )}
        </select></label
      >
      <button
        type="button"
        class="btn"
        onClick=${() => {
          close();
          fullScreen();
        }}
      >
        <${Icon} name="full" />${t("corner.full")}
      </button>
      <button
        type="button"
        class="btn"
        aria-pressed=${s.unfolded.value ? "true" : "false"}
        onClick=${() => {
          s.unfolded.value = !s.unfolded.value;
        }}
      >
        ${t("corner.unfold")}
      </button>
    </div>
    <fieldset class="layers">
      <legend class="sr">${t("corner.layers")}</legend>
      ${LAYERS.map(
        (name) =>
          html`<label key=${name}
            ><input
              type="checkbox"
              checked=${s.layers.value.has(name)}
              onChange=${() => setLayer(name)}
            />${" "}${t(`layer.${name}`)}</label
          >`,
      )}
    </fieldset>
    <${RealBrokers} t=${t} />
  <//>`;

/** Where to go in time, where to stop, and what was marked. */
export function Time({ t, close }) {
  const go = (act) => () => {
    close();
    act();
  };
  return html`<${Part} title=${t("until.title")}>
      <div class="row">
        ${UNTIL.map(
          (what) =>
            html`<button
              key=${what}
              type="button"
              class="btn"
              disabled=${what === "break" && !s.breaks.value.length}
              onClick=${go(() => goUntil(what))}
            >
              ${t(`until.${what}`)}
            </button>`,
        )}
      </div>
    <//>
    <${Part} title=${t("break.title")}><${Breakpoints} /><${Add} /><//>
    <${Part} title=${t("mark.title")}>
      <label class="field"
        >${t("mark.note")}${" "}<input
          id="note"
          type="text"
          maxlength="200"
          value=${notes.value[s.n.value] ?? ""}
          onChange=${(e) => note(e.target.value)}
      /></label>
      <div class="row">
        ${s.bookmarks.value.map(
          (n) =>
            html`<button
              key=${n}
              type="button"
              class="btn"
              onClick=${go(() => goTo(n, { leaveCrumb: true }))}
            >
              ${t("mark.step", { n })}
            </button>`,
        )}
        <button type="button" class="btn" onClick=${() => toggle()}>
          ${t(s.bookmarks.value.includes(s.n.value) ? "mark.remove" : "mark.add")}
        </button>
        <label
          ><input
            type="checkbox"
            checked=${s.byTime.value}
            onChange=${(e) => {
              s.byTime.value = e.target.checked;
              s.remember("rail", e.target.checked ? "time" : "steps");
            }}
          />${" "}${t("rail.bytime")}</label
        >
      </div>
    <//>`;
}
