// The caption under the stage, while a run is told as a story.

import { html } from "htm/preact";

import { captionOf } from "../animator/caption.js";
import * as s from "../animator/state.js";

export function Caption() {
  const step = s.step.value;
  if (!step || s.size.value !== "story") return null;
  const { total } = s.facts.value;
  // At the end without a caption of its own the verdict below says what became of it.
  const told = s.n.value < total || s.caption.value !== null;
  const words = !total ? s.t.value("step.empty") : told ? captionOf(step) : "";
  return html`<p class="caption">${words}</p>`;
}
