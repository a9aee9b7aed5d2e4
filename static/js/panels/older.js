// A run that another version of the engine saved: said, and whether it still ends the same.

import { html } from "htm/preact";
import * as s from "../animator/state.js";
import { Icon } from "./common.js";

export function Older() {
  const found = s.facts.value?.replayed_with;
  if (!found) return null;
  const key = found.same ? "older.same" : "older.differs";
  return html`<div class="bar warn" role="status" data-older=${found.same ? "same" : "differs"}>
    <${Icon} name="alert" />
    <p class="grow">${s.t.value(key, { saved: found.saved, now: found.now })}</p>
  </div>`;
}
