// Try: the script played in a small stage below the form, with the scene of the animator.

import { batch } from "@preact/signals";
import { html } from "htm/preact";

import * as stage from "../animator/stage.js";
import * as s from "../animator/state.js";
import { add, moments, nextSeen, tape } from "../core/history.js";
import { kafka } from "../i18n/words.js";
import { Icon } from "../panels/common.js";
import { Choice } from "./fields.js";
import { place } from "./promises.js";
import * as e from "./state.js";

let mounted = false;

/** Plays the text as it is now and shows its first step; what cannot be played is said. */
export const attempt = (profile = null) =>
  e.during(async () => {
    const wanted = profile ?? s.facts.value?.profile;
    const known = e.doc.value?.profiles ?? [];
    const said = await e.ask("/api/scenarios/try", {
      yaml: e.text.value,
      ...(known.includes(wanted) ? { profile: wanted } : {}),
    });
    document.getElementById("trying").hidden = false;
    if (!mounted) {
      stage.mount(document.getElementById("stage"), { drawn: () => {} });
      mounted = true;
    }
    const made = tape(said.facts, said.steps);
    batch(() => {
      s.tapes.value = [made];
      s.run.value = said.run;
      s.n.value = 0;
      s.cue.value = null;
      s.revision.value += 1;
    });
    document.getElementById("trying").dataset.run = said.run;
    document.getElementById("trying").scrollIntoView({ block: "nearest" });
    if (said.problem) {
      if (said.problem.script)
        e.problems.value = [{ ...place(said.problem.script), ...said.problem }];
      e.notice.value = {
        kind: "warn",
        text: `${said.problem.script ? `${e.t.value("edit.line", { n: said.problem.script })}: ` : ""}${said.problem.sentence}`,
      };
    }
  });

async function known(n) {
  const on = s.tapeNow.value;
  if (on.steps.has(n)) return;
  const said = await fetch(`/r/${on.digest}/steps.json?from=${Math.max(0, n - 1)}&count=64`).then(
    (r) => r.json(),
  );
  add(on, said.steps ?? []);
  s.revision.value += 1;
}

async function go(n) {
  const on = s.tapeNow.value;
  const to = Math.max(0, Math.min(on.facts.total, n));
  await known(to);
  if (!on.steps.has(to) || s.tapeNow.value !== on) return;
  const back = to < s.n.value;
  stage.stop();
  stage.freeze();
  s.n.value = to;
  await stage.travel({ back });
}

const step = (dir) => go(nextSeen(s.tapeNow.value, s.n.value, dir));
const moment = (dir) => {
  const all = moments(s.facts.value);
  go(
    dir > 0
      ? (all.find((n) => n > s.n.value) ?? s.facts.value.total)
      : (all.findLast((n) => n < s.n.value) ?? 0),
  );
};

export function TryHead() {
  const t = s.t.value;
  const facts = s.facts.value;
  if (!facts) return null;
  const button = (icon, label, act) =>
    html`<button type="button" class="btn square" aria-label=${label} title=${label} onClick=${act}>
      <${Icon} name=${icon} />
    </button>`;
  return html`<div class="row tryhead">
    <h2>${t("edit.try")}</h2>
    <${Choice}
      label=${t("title.profile")}
      value=${facts.profile}
      options=${[...new Set([...(e.doc.value?.profiles ?? []), facts.profile])].map((p) => [p, kafka(t, p)])}
      onChange=${(p) => attempt(p)}
    />
    ${button("first", t("time.first"), () => go(0))}${button("prev", t("time.back"), () =>
      step(-1),
    )}${button("next", t("time.on"), () => step(1))}<button
      type="button"
      class="btn"
      onClick=${() => moment(1)}
    >
      ${t("size.moment")}</button
    >${button("last", t("time.last"), () => go(facts.total))}
    <input
      type="range"
      class="grow"
      min="0"
      max=${facts.total}
      value=${s.n.value}
      aria-label=${t("rail.label")}
      onInput=${(event) => go(Number(event.target.value))}
    />
    <a class="btn" href=${`/r/${facts.digest}`}>${t("edit.animator")}</a>
  </div>`;
}
