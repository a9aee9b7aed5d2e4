// Now: the line of the script, the rules that acted, what changed, what comes next.

import { html } from "htm/preact";
import * as s from "../state.js";
import { nextSeen } from "../history.js";
import { knows } from "../i18n.js";
import { Icon, Jump, sayStep } from "./common.js";

const shownValue = (v) => (v === null || v === undefined || v === "" ? "–" : Array.isArray(v) ? `{${v.join(", ")}}` : typeof v === "object" ? JSON.stringify(v) : String(v));

function Cue({ cue, on }) {
  const t = s.t.value;
  const rule = (s.registry.value.rules ?? []).find((one) => one.id === cue.rule);
  const key = `rule.${cue.rule}`;
  const title = knows(s.words.value, key) ? t(key) : (rule?.title ?? "");
  const who = cue.node === null || cue.node === undefined || cue.node === "" ? "" : s.name.value(cue.node);
  const changed = cue.field && (cue.old !== null || cue.new !== null) && String(cue.old) !== String(cue.new);
  return html`<li class=${on ? "on" : ""}>
    <p><code class="rule">${cue.rule}</code> ${title}</p>
    <p class="soft">${who}${rule?.kafka ? html` · <code>${rule.kafka}</code>` : null}</p>
    ${cue.field && html`<p class="soft mono">${cue.field} ${changed ? `${shownValue(cue.old)} → ${shownValue(cue.new)}` : shownValue(cue.new ?? cue.old)}</p>`}
  </li>`;
}

export function Now() {
  const t = s.t.value;
  const facts = s.facts.value;
  const step = s.step.value;
  if (!step || !facts) return null;
  const coming = s.tapeNow.value.steps.get(s.n.value + 1);
  const inside = s.cue.value !== null && coming;
  const next = s.tapeNow.value.steps.get(nextSeen(s.tapeNow.value, s.n.value, 1));
  const cues = (inside ? coming : step).cues ?? [];
  return html`<div class="stack">
    ${cues.length > 0 && html`<div><h3>${t("now.rules")}</h3><ol class="cues">${cues.map((cue, i) => html`<${Cue} key=${i} cue=${cue} on=${inside && i === s.cue.value} />`)}</ol></div>`}
    ${step.n === 0 && html`${facts.scenario.teaches && html`<p>${facts.scenario.teaches}</p>`}<p class="soft">${t("now.begin")}</p>`}
    ${next && next !== step && !inside && html`<div class="nextup"><h3>${t("now.next")}</h3><p><${Jump} n=${next.n}><${Icon} name="next" /> ${sayStep(next)}<//></p></div>`}
    ${s.n.value >= facts.total && html`<div class="nextup"><h3>${t("now.end")}</h3><p class="soft">${t("now.end_more")}</p></div>`}
  </div>`;
}
