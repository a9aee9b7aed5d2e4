// The line under the stage: a broken promise as it breaks, and how a run ends.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import { share } from "../animator/doors.js";
import { goTo } from "../animator/player.js";
import * as s from "../animator/state.js";
import { inTurn, knows } from "../i18n/words.js";
import { Icon, judged, say } from "./common.js";
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

/** The one line under the stage.  Its place is reserved, so that nothing jumps when it speaks. */
export function Ending() {
  const t = s.t.value;
  const broken = worst(s.broken.value);
  const facts = s.facts.value;
  const key = broken.length ? `${facts.digest}:${broken.map((b) => b.invariant).join()}` : null;
  useEffect(() => {
    if (!key && s.dismissed.value.size) s.dismissed.value = new Set();
  }, [key]);
  if (key && !s.dismissed.value.has(key))
    return html`<${Loss} broken=${broken} id=${key} t=${t} />`;
  if (!facts || s.n.value < facts.total || !facts.total) return html`<div class="ending"></div>`;
  return html`<${End} facts=${facts} t=${t} />`;
}

/** At the end of a run the title's question is answered in one sentence. */
function End({ facts, t }) {
  const { kind, words } = judged(s.step.value);
  return html`<div
    class=${`ending card ${kind === "held" ? "held" : "lost"}`}
    role="note"
    data-end=${kind}
  >
    <p class="grow"><b>${words}</b>${" "}<span>${facts.scenario.teaches}</span></p>
    <div class="acts">
      <button class="btn" type="button" onClick=${share}>${t("end.share")}</button>
      <a class="btn" href="/">${t("end.next")}</a>
    </div>
  </div>`;
}

const HEADLINE = 2; // broken promises that a phone has room for

/** A promise that is broken, as a moment: what is gone, and what can be asked of it. */
function Loss({ broken, id, t }) {
  const facts = s.facts.value;
  const lost = s.step.value?.view.ledger?.lost ?? [];
  const first = broken[0].step;
  const other =
    facts.script && facts.scenario.profiles?.findLast((profile) => profile !== facts.profile);
  const away = () => {
    s.dismissed.value = new Set([...s.dismissed.value, id]);
  };
  const told = lost.length
    ? [t("bad.gone", { m: listed(lost, t) })]
    : broken.map((b) => brokenWords(b.invariant));
  const known = facts.verdict.expected ? `(${t("bad.expected", { profile: facts.profile })})` : "";
  const why = `${say(broken[0].why)} ${known}`;
  return html`<div
    class="ending lost"
    role="alert"
    title=${`${why} ${broken.map((b) => b.invariant).join(" ")}`}
    data-violation=${broken.map((b) => b.invariant).join(" ")}
  >
    <p class="grow">
      <b>${inTurn(told.slice(0, HEADLINE))}</b> <span>${inTurn(told.slice(HEADLINE))}</span>
    </p>
    <div class="acts">
      <button class="btn" type="button" onClick=${() => showWhere(first, lost)}>
        ${t("bad.show")}
      </button>
      <${Doubt} invariant=${broken[0].invariant} step=${first} />
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

const MOST = 6; // records named; of more only how many

function listed(lost, t) {
  if (lost.length > MOST)
    return t("bad.more", { m: lost.slice(0, MOST).join(", "), n: lost.length - MOST });
  if (lost.length === 1) return lost[0];
  return t("bad.and", { a: lost.slice(0, -1).join(", "), b: lost.at(-1) });
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
      onClick=${priced ? ask("/api/futures") : () => setPriced(true)}
    >
      ${priced ? t("batch.futures.cost", { n: cost }) : t("batch.futures.go")}
    </button>`;
}
