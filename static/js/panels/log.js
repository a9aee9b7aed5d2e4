// Log: every step known so far, one line each.  Pressing a line goes there.

import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { Jump, sayAll, sayStep } from "./common.js";

/** A message that got lost: its line is struck. */
const struck = (step) => (/^fault\.drop/.test(step.say?.[0]?.key ?? "") ? "struck" : "");

export function Log() {
  const t = s.t.value;
  const [filter, setFilter] = useState("");
  const list = useRef(null);
  void s.revision.value;
  const known = [...(s.tapeNow.value?.steps.values() ?? [])].sort((a, b) => a.n - b.n);
  const text = (step) => sayStep(step);
  const shown = filter
    ? known.filter((step) =>
        `${sayAll(step)} ${step.move}`.toLowerCase().includes(filter.toLowerCase()),
      )
    : known;
  useEffect(() => {
    list.current?.querySelector('[aria-current="step"]')?.scrollIntoView({ block: "nearest" });
  }, [s.n.value]);
  const copy = () =>
    navigator.clipboard
      ?.writeText(
        known.map((step) => `${step.n}\t${step.t} ms\t${step.move}\t${text(step)}`).join("\n"),
      )
      .then(() => {
        s.notice.value = { kind: "ok", text: t("log.copied") };
      });
  return html`<div class="stack">
    <div class="row">
      <input
        type="search"
        placeholder=${t("log.filter")}
        aria-label=${t("log.filter")}
        value=${filter}
        onInput=${(e) => setFilter(e.target.value)}
      />
      <button class="btn" type="button" onClick=${copy}>${t("log.copy")}</button>
    </div>
    <ol class="log" ref=${list}>
      ${shown.map(
        (step) =>
          html`<li
            key=${step.n}
            class=${`m${step.moment} ${step.broken?.length ? "bad" : ""} ${struck(step)}`}
            aria-current=${step.n === s.n.value ? "step" : null}
          >
            <${Jump} n=${step.n}><span class="num">${step.n}</span><span>${text(step)}</span><//>
          </li>`,
      )}
    </ol>
  </div>`;
}
