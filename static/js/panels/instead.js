// What stands beside the scene or in its place: real brokers, the table, the matrix.

import { html } from "htm/preact";

import * as onRequest from "../animator/on_request.js";
import { side } from "../animator/reality.js";
import { blank } from "../animator/speaking.js";
import * as s from "../animator/state.js";

/** The table, or the matrix, where the tanks are, when that view is chosen. */
export const Whole = () =>
  s.view.value === "table"
    ? html`<${onRequest.TableView} />`
    : s.view.value === "matrix"
      ? html`<${onRequest.Matrix} />`
      : null;

/** Which of both is on the stage; every view but the tanks shows the run alone. */
const showing = () => (s.view.value === "tanks" ? side.value : "model");

/** Writes on the board what styles depend on. */
export function markBoard() {
  Object.assign(document.getElementById("board").dataset, {
    view: s.view.value,
    show: showing(),
    size: s.size.value,
    run: s.run.value ?? "",
    runs: String(s.branches.value.length),
    drawer: String(s.drawer.value),
  });
}

/** A speaker's screen is dark until the next key. */
export const Blank = () => blank.value && html`<div class="blank"></div>`;

/** Real brokers, beside the picture of the run or in its place. */
export const Beside = () => (showing() === "model" ? null : html`<${onRequest.Reality} />`);
