// What can be asked of a run that broke a promise: where, under another release, a shorter one, and
// when it was lost for good.

import { signal } from "@preact/signals";
import { html } from "htm/preact";

import { share } from "../animator/on_request.js";
import { goTo } from "../animator/player.js";
import * as s from "../animator/state.js";
import { alone, placed } from "../core/place.js";
import { post, Refused } from "../core/post.js";
import { say } from "./common.js";
import { playUnder } from "./release.js";

const busy = signal(false);
/** The run whose futures have been priced: the next press plays them. */
const priced = signal(null);

/** Brings the lost records before the eyes: the logs that had them ring for a while. */
function showWhere(step, lost) {
  goTo(step, { leaveCrumb: true }).then(() => {
    s.lit.value = lost.length ? `rec:${lost[0]}` : "differ";
  });
}

/** Starts a batch about the first promise that broke, and goes to its page. */
async function ask(path, invariant) {
  busy.value = true;
  try {
    location.assign(placed((await post(path, { run: s.run.value, invariant })).url));
  } catch (problem) {
    const text = problem instanceof Refused ? problem.message : s.t.value("offline.wait");
    s.notice.value = { kind: "warn", text };
  }
  busy.value = false;
}

/** Where was the point of no return?  Says first how many runs that takes. */
export function Futures() {
  const t = s.t.value;
  const [first] = s.broken.value;
  if (!first || alone()) return null;
  const { each, longest } = s.boot.value.futures;
  const places = longest.findIndex((steps) => first.step - 1 <= steps) + 1 || longest.length + 1;
  const n = (places * each).toLocaleString(document.documentElement.lang);
  const told = priced.value === s.run.value;
  return html`<button
    class="jump"
    type="button"
    disabled=${busy.value}
    title=${t("batch.futures.why")}
    onClick=${() => {
      if (told) ask("/api/futures", first.invariant);
      else priced.value = s.run.value;
    }}
  >
    ${told ? t("batch.futures.cost", { n }) : t("batch.futures.go")}
  </button>`;
}

/** The same questions in the drawer, with what broke and why. */
export function Verdict() {
  const t = s.t.value;
  const facts = s.facts.value;
  const [first] = s.broken.value;
  const { records = [] } = s.step.value?.verdict ?? {};
  if (!first) return null;
  const at = records.length ? facts.verdict.lost_at : first.step;
  const other =
    facts.script && facts.scenario.profiles?.findLast((profile) => profile !== facts.profile);
  const known = facts.verdict.expected ? t("bad.expected", { profile: facts.profile }) : "";
  const button = (words, act, why) =>
    html`<button class="btn" type="button" title=${why} disabled=${busy.value} onClick=${act}>
      ${words}
    </button>`;
  return html`<section class="verdict">
    <p class="bad">${say(first.why)}</p>
    <p class="soft">${known}</p>
    <p class="row">
      ${button(t("bad.show"), () => showWhere(at, records))}
      ${other && button(t("bad.under", { profile: other }), () => playUnder(other))}
      ${button(
        t("batch.shorten.go"),
        () => ask("/api/shorten", first.invariant),
        t("batch.shorten.why"),
      )}
      <${Futures} /> ${button(t("end.share"), share)}
    </p>
  </section>`;
}
