// The line under the stage: a broken promise as it breaks, and how a run ends.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import { share } from "../animator/on_request.js";
import { goTo } from "../animator/player.js";
import * as s from "../animator/state.js";
import { alone, placed } from "../core/place.js";
import { Icon, judged, say } from "./common.js";
import { change } from "./title.js";

/** Brings the lost records before the eyes: the lanes that had them ring for a while. */
function showWhere(step, lost) {
  goTo(step, { leaveCrumb: true }).then(() => {
    s.lit.value = lost.length ? `rec:${lost[0]}` : "differ";
    document.getElementById("stage")?.scrollIntoView({ block: "center", behavior: "smooth" });
  });
}

/** Kinds of a verdict that are shown from the step on at which they came about. */
const BAD = ["lost", "broken", "gone"];

/** The one line under the stage.  Its place is reserved, so that nothing jumps when it speaks. */
export function Ending() {
  const t = s.t.value;
  const facts = s.facts.value;
  const { kind, words } = judged(s.step.value);
  const key = BAD.includes(kind) ? `${facts.digest}:${words}` : null;
  useEffect(() => {
    if (!key && s.dismissed.value.size) s.dismissed.value = new Set();
  }, [key]);
  if (key && !s.dismissed.value.has(key))
    return html`<${Loss} kind=${kind} words=${words} id=${key} t=${t} />`;
  if (!facts || s.n.value < facts.total || !facts.total) return html`<div class="ending"></div>`;
  return html`<${End} facts=${facts} kind=${kind} words=${words} t=${t} />`;
}

/** At the end of a run the title's question is answered in one sentence; a run of one's own asks
 *  none. */
function End({ facts, kind, words, t }) {
  return html`<div class=${`ending card ${kind}`} role="note" data-end=${kind}>
    <p class="grow">
      <b>${words}</b>${" "}<span>${facts.script ? facts.scenario.teaches : ""}</span>
    </p>
    <div class="acts">
      <button class="btn" type="button" onClick=${share}>${t("end.share")}</button>
      <${Onward} t=${t} />
    </div>
  </div>`;
}

/** Where to go from the end of a run: on along the path, or to other runs. */
function Onward({ t }) {
  const next = s.boot.value.path?.next;
  if (next)
    return html`<a class="btn primary" href=${next.href}
      >${t("path.onward", { title: t(`pathstep.${next.number}`) })}</a
    >`;
  if (s.boot.value.path)
    return html`<a class="btn primary" href="/interview">${t("path.interview")}</a>`;
  return html`<a class="btn" href="/">${t("end.next")}</a>`;
}

/** A verdict that is bad, as a moment: what is gone, and what can be asked of it. */
function Loss({ kind, words, id, t }) {
  const facts = s.facts.value;
  const { records = [] } = s.step.value.verdict;
  const [first] = s.broken.value;
  const at = records.length ? facts.verdict.lost_at : first.step;
  const other =
    facts.script && facts.scenario.profiles?.findLast((profile) => profile !== facts.profile);
  const away = () => {
    s.dismissed.value = new Set([...s.dismissed.value, id]);
  };
  const known = facts.verdict.expected ? `(${t("bad.expected", { profile: facts.profile })})` : "";
  const why = first ? `${say(first.why)} ${known}` : "";
  return html`<div
    class=${`ending ${kind}`}
    role="alert"
    title=${`${why} ${s.broken.value.map((b) => b.invariant).join(" ")}`}
    data-violation=${s.broken.value.map((b) => b.invariant).join(" ")}
  >
    <p class="grow"><b>${words}</b></p>
    <div class="acts">
      ${s.n.value >= facts.total && s.boot.value.path && html`<${Onward} t=${t} />`}
      <button class="btn" type="button" onClick=${() => showWhere(at, records)}>
        ${t("bad.show")}
      </button>
      ${first && html`<${Doubt} invariant=${first.invariant} step=${first.step} />`}
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
function Doubt({ invariant, step }) {
  const t = s.t.value;
  const [busy, setBusy] = useState(false);
  const [priced, setPriced] = useState(false);
  const { each, longest } = s.boot.value.futures;
  const places = longest.findIndex((steps) => step - 1 <= steps) + 1 || longest.length + 1;
  const cost = (places * each).toLocaleString(document.documentElement.lang);
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
      if (answer.ok) location.assign(placed(answer.url));
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
    ${
      !alone() &&
      html`<button
        class="btn"
        type="button"
        disabled=${busy}
        title=${t("batch.futures.why")}
        onClick=${priced ? ask("/api/futures") : () => setPriced(true)}
      >
        ${priced ? t("batch.futures.cost", { n: cost }) : t("batch.futures.go")}
      </button>`
    }`;
}
