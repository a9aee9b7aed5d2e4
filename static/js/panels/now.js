// Now: the line of the script, the rules that acted, what changed, what comes next.

import { html } from "htm/preact";
import * as s from "../state.js";
import { knows } from "../i18n.js";
import { Icon, Jump, sayStep } from "./common.js";

const shownValue = (v) => (v === null || v === undefined || v === "" ? "–" : Array.isArray(v) ? `{${v.join(", ")}}` : typeof v === "object" ? JSON.stringify(v) : String(v));

function Cue({ cue, on }) {
  const t = s.t.value;
  const key = `rule.${cue.rule}`;
  const who = cue.node === null || cue.node === undefined || cue.node === "" ? "" : s.name.value(cue.node);
  const changed = cue.field && (cue.old !== null || cue.new !== null) && String(cue.old) !== String(cue.new);
  return html`<li class=${on ? "on" : ""}>
    <code class="rule">${cue.rule}</code>
    <span class="grow">${knows(s.words.value, key) ? t(key) : who}${knows(s.words.value, key) && who ? html`<span class="soft"> · ${who}</span>` : null}</span>
    ${cue.field && html`<span class="soft mono">${cue.field} ${changed ? `${shownValue(cue.old)} → ${shownValue(cue.new)}` : shownValue(cue.new ?? cue.old)}</span>`}
  </li>`;
}

export function Now() {
  const t = s.t.value;
  const facts = s.facts.value;
  const step = s.step.value;
  if (!step || !facts) return null;
  const chapter = s.chapter.value;
  const next = s.tapeNow.value.steps.get(s.n.value + 1);
  const inside = s.cue.value !== null && next;
  const cues = (inside ? next : step).cues ?? [];
  return html`<div class="stack">
    ${chapter?.text && s.n.value > 0 && html`<div class="chapter"><h3>${t("now.line")}</h3><p><code class="move">${chapter.text}</code></p>${chapter.comment && html`<p class="soft">${chapter.comment}</p>`}</div>`}
    ${cues.length > 0 && html`<div><h3>${t("now.rules")}</h3><ol class="cues">${cues.map((cue, i) => html`<${Cue} key=${i} cue=${cue} on=${inside && i === s.cue.value} />`)}</ol></div>`}
    ${step.n === 0 && html`<p class="soft">${t("now.begin")}</p>`}
    ${next && !inside && html`<div class="nextup"><h3>${t("now.next")}</h3><p><${Jump} n=${next.n}><${Icon} name="next" /> ${sayStep(next)}<//></p></div>`}
    ${s.n.value >= facts.total && html`<div class="nextup"><h3>${t("now.end")}</h3><p class="soft">${t("now.end_more")}</p></div>`}
  </div>`;
}
