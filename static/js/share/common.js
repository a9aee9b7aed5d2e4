// What the parts of the share dialog have in common: the run's text, saving, copying, choices.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { pack } from "../core/packing.js";
import { post, Refused } from "../core/post.js";
import { nameOf } from "../net/channel.js";
import { modules } from "./qr.js";

/** The text of a run: known already, or asked for by its digest. */
async function textOf(on) {
  if (!on.text) {
    const answer = await fetch(`/r/${on.digest}.json`);
    if (!answer.ok) throw new Refused(await answer.json());
    on.text = await answer.text();
  }
  return on.text;
}

export async function packedOf(on) {
  on.packed ??= await pack(await textOf(on));
  return on.packed;
}

/** Keeps a run on the server, so that its digest is enough; twice is the same as once. */
export async function save(on) {
  const named = nameOf(on);
  const body = named.scenario ? { run: on.digest } : named;
  await post("/api/runs", body);
  on.saved = true;
  on.kept = true;
  s.revision.value += 1;
}

/** Is the run on the server for good? */
export const isKept = (on) => Boolean(on.kept || on.facts.saved);

export const why = (problem) =>
  problem instanceof Refused ? problem.message : s.t.value("offline.wait");

/** One choice of a few, as radio buttons with a sentence each. */
export function Choice({ name, legend, options, value, onChange, flat = false }) {
  return html`<fieldset class=${`choice ${flat ? "flat" : ""}`}>
    <legend>${legend}</legend>
    ${options.map(
      ([id, label, note]) =>
        html`<label key=${id}
          ><input
            type="radio"
            name=${name}
            value=${id}
            checked=${value === id}
            onChange=${() => onChange(id)}
          /><span>${label}${note && html`<small>${note}</small>`}</span></label
        >`,
    )}
  </fieldset>`;
}

/** A text to take along: shown whole, copied with a button, which says whether it worked; `quiet`
 *  where it is not what the part is for. */
export function Copied({ label, text, rows = 0, prepare = null, action = null, quiet = false }) {
  const t = s.t.value;
  const [told, setTold] = useState(null);
  const copy = async (event) => {
    const field = event.currentTarget.closest(".copied").querySelector("input, textarea");
    let found;
    try {
      found = prepare ? await prepare() : text;
    } catch (problem) {
      setTold({ bad: true, words: why(problem) });
      return;
    }
    try {
      await navigator.clipboard.writeText(found);
      setTold({ words: t("share.copied") });
    } catch {
      field.focus();
      field.select();
      setTold({ words: t("share.select") });
    }
  };
  const field = rows
    ? html`<textarea
        class="mono"
        readonly
        rows=${rows}
        aria-label=${label}
        value=${text}
      ></textarea>`
    : html`<input
        type="text"
        class="mono"
        readonly
        aria-label=${label}
        value=${text}
        onFocus=${(e) => e.target.select()}
      />`;
  return html`<div class=${quiet ? "copied quiet" : "copied"}>
    <div class="row">
      ${field}<button type="button" class=${quiet ? "btn" : "btn primary"} onClick=${copy}>
        ${action ?? t("share.copy")}
      </button>
    </div>
    <p role="status" class=${told?.bad ? "bad" : "soft"}>${told?.words ?? ""}</p>
  </div>`;
}

export function Code({ text, open = false }) {
  const t = s.t.value;
  const rows = modules(text);
  if (!rows) return html`<p class="soft">${t("share.qr.long", { n: text.length })}</p>`;
  const d = rows
    .flatMap((row, y) => row.map((on, x) => (on ? `M${x + 4} ${y + 4}h1v1h-1z` : "")))
    .join("");
  const size = rows.length + 8;
  return html`<details class="qr" open=${open}>
    <summary>${t("share.qr")}</summary>
    <svg
      viewBox=${`0 0 ${size} ${size}`}
      role="img"
      aria-label=${t("share.qr.label")}
      shape-rendering="crispEdges"
    >
      <rect width=${size} height=${size} fill="#fff" />
      <path d=${d} fill="#000" />
    </svg>
  </details>`;
}
