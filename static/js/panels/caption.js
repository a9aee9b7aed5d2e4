// The one text of a run, under its picture: what happened, and at its end the verdict.

import { html } from "htm/preact";

import { notes } from "../animator/bookmarks.js";
import { pick } from "../animator/choose.js";
import { LevelAsks } from "../animator/on_request.js";
import { mode } from "../animator/speaking.js";
import * as s from "../animator/state.js";
import { captionAt, isLong } from "./common.js";
import { Futures } from "./verdict.js";

/** Where to go from the end of a run: on along the path, or to other runs. */
function Onward({ t }) {
  const { path } = s.boot.value;
  if (path?.next)
    return html`<a class="btn primary" href=${path.next.href}
      >${t("path.onward", { title: t(`pathstep.${path.next.number}`) })}</a
    >`;
  return path
    ? html`<a class="btn primary" href="/practice">${t("path.interview")}</a>`
    : html`<a href="/">${t("end.next")}</a>`;
}

export function Caption() {
  const t = s.t.value;
  const step = s.step.value;
  const facts = s.facts.value;
  if (!step || !facts) return html`<p class="caption skeleton"></p>`;
  const { words, kind, aside: told, tone = "", alarm = false } = captionAt(step, facts);
  const aside = told || (facts.unfinished && t("caption.unfinished"));
  const end = s.n.value >= facts.total && facts.total > 0 && !facts.scenario.live;
  const names = s.broken.value.map((b) => b.invariant).join(" ");
  return html`<p
      class=${`caption ${kind} ${isLong(words) ? "long" : ""}`}
      role=${alarm ? "alert" : null}
      data-violation=${alarm ? names : null}
      data-end=${end ? kind : null}
    >
      ${words}
    </p>
    ${
      mode.value === "present" &&
      notes.value[step.n] &&
      html`<p class="speakernote">${notes.value[step.n]}</p>`
    }
    <div class="asks">
      ${aside && html`<span class=${`aside ${tone}`} title=${aside}>${aside}</span>`}
      <button type="button" class="jump" id="whynow" onClick=${() => pick("now")}>
        ${t("caption.why")}
      </button>
      ${alarm && names && !s.phone.value && html`<${Futures} />`}
      ${s.level.value ? html`<${LevelAsks} />` : end && html`<${Onward} t=${t} />`}
    </div>`;
}
