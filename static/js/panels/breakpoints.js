// Breakpoints: what playing stops at, and the form that adds one.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import * as s from "../animator/state.js";
import { breakText, breakWords, fieldsOf, WHATS } from "../core/breaks.js";
import { Icon } from "./common.js";

function keep(list) {
  s.breaks.value = list;
  s.remember("breaks", list.map(breakText).join(","));
}

export function Add() {
  const t = s.t.value;
  const [what, setWhat] = useState("hw");
  const [broker, setBroker] = useState("");
  const [value, setValue] = useState("");
  const fields = fieldsOf(what);
  const add = (event) => {
    event.preventDefault();
    const made = {
      what,
      broker: fields.broker ? broker : "",
      value: fields.value ? value.trim() : "",
    };
    if (!s.breaks.value.some((one) => breakText(one) === breakText(made)))
      keep([...s.breaks.value, made].slice(-12));
  };
  return html`<form class="row" onSubmit=${add}>
    <select aria-label=${t("break.what")} value=${what} onChange=${(e) => setWhat(e.target.value)}>
      ${WHATS.map(
        (one) => html`<option key=${one} value=${one}>${t(`break.pick.${one}`)}</option>`,
      )}
    </select>
    ${
      fields.value &&
      html`<input
        class="mono short"
        aria-label=${t("break.value")}
        required=${["offset", "method"].includes(what)}
        pattern=${what === "offset" ? "[0-9]+" : "[A-Za-z0-9._\\-]*"}
        placeholder=${t(`break.hint.${what}`)}
        value=${value}
        onInput=${(e) => setValue(e.target.value)}
      />`
    }
    ${
      fields.broker &&
      html`<select
        aria-label=${t("break.broker")}
        value=${broker}
        onChange=${(e) => setBroker(e.target.value)}
      >
        <option value="">${t("break.anywhere")}</option>
        ${(s.step.value?.view.brokers ?? []).map(
          (b) => html`<option key=${b.id} value=${String(b.id)}>${s.name.value(b.id)}</option>`,
        )}
      </select>`
    }
    <button type="submit" class="btn">${t("break.add")}</button>
  </form>`;
}

export function Breakpoints() {
  const t = s.t.value;
  return (
    s.breaks.value.length > 0 &&
    html`<ul class="plainlist">
      ${s.breaks.value.map(
        (one) =>
          html`<li key=${breakText(one)} class="row tight">
            <span class="grow">${breakWords(one, s.env.value)}</span
            ><button
              type="button"
              class="btn quiet square"
              aria-label=${t("break.remove", { what: breakWords(one, s.env.value) })}
              onClick=${() => keep(s.breaks.value.filter((other) => other !== one))}
            >
              <${Icon} name="close" />
            </button>
          </li>`,
      )}
    </ul>`
  );
}
