// The bars over the stage: a broken promise, a lost connection, an answer that says no.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import { goTo } from "../animator/player.js";
import * as s from "../animator/state.js";
import { inTurn, knows } from "../i18n/words.js";
import { Icon, say } from "./common.js";
import { change } from "./title.js";

/** A broken promise in words: what is the case now, not what was promised. */
const brokenWords = (id) =>
  knows(s.words.value, `broken.${id}`)
    ? s.t.value(`broken.${id}`)
    : s.t.value("broken.other", { id });

/** What is broken now; the finer checks of single mechanisms only where no promise says it. */
function worst(broken) {
  const promises = broken.filter((b) => /^I\d/.test(b.invariant));
  const rank = (b) => (b.invariant === "I7" ? 0 : 1); // what was promised to a client comes first
  return promises.length ? promises.sort((a, b) => rank(a) - rank(b)) : broken;
}

/** Brings the lost records before the eyes: the lanes that had them ring for a while. */
function showWhere(step, lost) {
  goTo(step, { leaveCrumb: true }).then(() => {
    s.lit.value = lost.length ? `rec:${lost[0]}` : "differ";
    document.getElementById("stage")?.scrollIntoView({ block: "center", behavior: "smooth" });
  });
}

export function Violation() {
  const t = s.t.value;
  const broken = worst(s.broken.value);
  const facts = s.facts.value;
  const first = broken[0]?.step;
  const key = broken.length ? `${facts.digest}:${broken.map((b) => b.invariant).join()}` : null;
  useEffect(() => {
    if (!key && s.dismissed.value.size) s.dismissed.value = new Set();
  }, [key]);
  if (!key || s.dismissed.value.has(key)) return null;
  const lost = s.step.value?.view.ledger?.lost ?? [];
  const other =
    facts.script && facts.scenario.profiles?.findLast((profile) => profile !== facts.profile);
  const away = () => {
    s.dismissed.value = new Set([...s.dismissed.value, key]);
  };
  return html`<div
    class="bar bad"
    role="alert"
    data-violation=${broken.map((b) => b.invariant).join(" ")}
  >
    <${Icon} name="alert" />
    <div class="grow">
      <p>
        <b>${inTurn(broken.map((b) => brokenWords(b.invariant)))}</b>${" "}<span class="mono soft"
          >${broken.map((b) => b.invariant).join(" ")}</span
        >
        ${lost.length > 0 && html` ${t("bad.lost", { m: lost.join(", ") })}`}
      </p>
      <p class="whys">
        ${say(broken[0].why)}${" "}${
          facts.verdict.expected &&
          html`<span>(${t("bad.expected", { profile: facts.profile })})</span>`
        }
      </p>
    </div>
    <div class="acts">
      <button class="btn" type="button" onClick=${() => showWhere(first, lost)}>
        ${t("bad.show")}
      </button>
      <${Doubt} invariant=${broken[0].invariant} />
      ${
        other &&
        html`<button class="btn" type="button" onClick=${() => change(other)}>
          ${t("bad.under", { profile: other })}
        </button>`
      }
      <button class="btn quiet square" type="button" aria-label=${t("bad.close")} onClick=${away}>
        <${Icon} name="close" />
      </button>
    </div>
  </div>`;
}

/** What can be asked of a run that breaks a promise: a shorter one, and when it was lost for
 *  good. */
function Doubt({ invariant }) {
  const t = s.t.value;
  const [busy, setBusy] = useState(false);
  const ask = (path) => async () => {
    setBusy(true);
    try {
      const headers = {
        "Content-Type": "application/json",
        "X-CSRF-Token": document.body.dataset.csrf,
      };
      const answer = await (
        await fetch(path, {
          method: "POST",
          headers,
          body: JSON.stringify({ run: s.run.value, invariant }),
        })
      ).json();
      if (answer.ok) location.assign(answer.url);
      else s.notice.value = { kind: "warn", text: answer.sentence };
    } catch {
      s.notice.value = { kind: "warn", text: t("offline.wait") };
    }
    setBusy(false);
  };
  return html`<button
      class="btn"
      type="button"
      disabled=${busy}
      title=${t("batch.shorten.why")}
      onClick=${ask("/api/shorten")}
    >
      ${t("batch.shorten.go")}
    </button>
    <button
      class="btn"
      type="button"
      disabled=${busy}
      title=${t("batch.futures.why")}
      onClick=${ask("/api/futures")}
    >
      ${t("batch.futures.go")}
    </button>`;
}
