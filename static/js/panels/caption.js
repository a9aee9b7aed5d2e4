// The caption under the stage, while a run is told as a story.

import { html } from "htm/preact";

import { captionOf } from "../animator/caption.js";
import * as s from "../animator/state.js";

export function Caption() {
  const step = s.step.value;
  if (!step || s.size.value !== "story") return null;
  const { total } = s.facts.value;
  // At the end the verdict below says what became of it.
  const words = !total ? s.t.value("step.empty") : s.n.value < total ? captionOf(step) : "";
  return html`<p class="caption">${words}</p>`;
}
