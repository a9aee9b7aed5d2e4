// Bars that tell the state of page and run: lost connections, notices, runs of other engines, long
// runs.

import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

import * as onRequest from "../animator/on_request.js";
import * as s from "../animator/state.js";
import { Icon } from "./common.js";

function Older() {
  const found = s.facts.value?.replayed_with;
  if (!found) return null;
  const key = found.same ? "older.same" : "older.differs";
  return html`<div class="bar warn" role="status" data-older=${found.same ? "same" : "differs"}>
    <${Icon} name="alert" />
    <p class="grow">${s.t.value(key, { saved: found.saved, now: found.now })}</p>
  </div>`;
}

/** A script that cannot be played to its end is shown as far as it can. */
function Stops() {
  const why = s.facts.value?.stops;
  if (!why) return null;
  return html`<div class="bar warn" role="status" data-stops="1">
    <${Icon} name="alert" />
    <p class="grow">${s.t.value("stops.bar", { why })}</p>
  </div>`;
}

function Longer() {
  const facts = s.facts.value;
  if (facts?.whole !== false || facts.unfinished) return null;
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

function Connection() {
  const t = s.t.value;
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (s.online.value || s.offlineSince.value === null) return undefined;
    const wait = setTimeout(() => setLate(true), 1000);
    return () => clearTimeout(wait);
  }, [s.online.value, s.offlineSince.value]);
  void s.revision.value;
  if (!late || s.online.value) return null;
  return html`<div class="bar warn" role="status" data-offline="1">
    <${Icon} name="alert" />
    <p class="grow">
      ${t("offline.bar", { n: s.tapeNow.value?.steps.size ?? 0 })} <${Countdown} />
    </p>
  </div>`;
}

/** Until the next try, in seconds; not read aloud each time. */
function Countdown() {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const beat = setInterval(() => setNow(performance.now()), 500);
    return () => clearInterval(beat);
  }, []);
  const left = Math.ceil((s.retryAt.value - now) / 1000);
  return left > 0
    ? html`<span class="soft" aria-hidden="true">${s.t.value("offline.again", { n: left })}</span>`
    : null;
}

/** A defect of the engine comes with the line that reproduces it. */
function Copy({ text }) {
  const [copied, setCopied] = useState(false);
  return html`<button
    class="btn"
    type="button"
    onClick=${() => navigator.clipboard?.writeText(text).then(() => setCopied(true))}
  >
    ${s.t.value(copied ? "bad.copied" : "bad.copy")}
  </button>`;
}

const inClass = () => s.classroom.value && html`<${onRequest.ClassBar} /><${onRequest.ClassAsk} />`;

/** Every bar that has something to say. */
export const Bars = () =>
  html`${inClass()}${s.predicting.value && html`<${onRequest.Predicting} />`}
    <${Connection} /><${Older} /><${Stops} /><${Longer} />`;

/** Lies over the foot of the stage: what comes and goes moves nothing. */
export function Notice() {
  const t = s.t.value;
  const notice = s.notice.value;
  useEffect(() => {
    if (!notice || notice.kind === "bad" || notice.stays) return undefined;
    const wait = setTimeout(() => {
      if (s.notice.value === notice) s.notice.value = null;
    }, 9000);
    return () => clearTimeout(wait);
  }, [notice]);
  if (!notice) return null;
  return html`<div class="bar ${notice.kind}" role="status" data-notice=${notice.kind}>
    <${Icon} name=${notice.kind === "ok" ? "tick" : "alert"} />
    <p class="grow">
      ${notice.text}${notice.link ? html` <a href=${notice.link}>${notice.link}</a>` : null}
    </p>
    ${notice.copy ? html`<${Copy} text=${notice.copy} />` : null}
    <button
      class="btn quiet square"
      type="button"
      aria-label=${t("bad.close")}
      onClick=${() => {
        s.notice.value = null;
      }}
    >
      <${Icon} name="close" />
    </button>
  </div>`;
}
