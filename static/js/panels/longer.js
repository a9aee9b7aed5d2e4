// A run with more steps than can be looked at: said, with the way to count how it ends.

import { html } from "htm/preact";
import * as s from "../animator/state.js";
import { Icon } from "./common.js";

export function Longer() {
  const facts = s.facts.value;
  if (facts?.whole !== false) return null;
  const t = s.t.value;
  return html`<div class="bar warn" role="status" data-longer="1">
    <${Icon} name="alert" />
    <p class="grow">
      ${t("longer.bar", { n: facts.total })}${" "}<a href=${`/batch?run=${facts.digest}`}
        >${t("site.batch")}</a
      >
    </p>
  </div>`;
}
