// The form's part about the network: delays, between bounds or with a long tail, and loss.

import { html } from "htm/preact";

import { Choice, Num, Span } from "./fields.js";
import { delayed } from "./model.js";
import * as e from "./state.js";

/** One of the two delays of a network. */
function Delay({ name, value, onChange, t }) {
  const even = Array.isArray(value);
  const at = (n, ms) => onChange(value.map((one, i) => (i === n ? (ms ?? 0) : one)));
  return html`<div class="row">
    <b class="n">${name}</b>
    <${Choice}
      hidden
      label=${`${name}: ${t("edit.spread")}`}
      value=${even ? "even" : "tail"}
      options=${["even", "tail"].map((form) => [form, t(`edit.spread.${form}`)])}
      onChange=${(form) => onChange(delayed(value, form))}
    />
    ${
      even
        ? html`<${Num}
              label=${t("edit.least")}
              value=${value[0]}
              onChange=${(v) => at(0, v)}
            /><${Num}
              label=${t("edit.most")}
              unit="ms"
              value=${value[1]}
              onChange=${(v) => at(1, v)}
            />`
        : ["median", "p99"].map(
            (key) =>
              html`<${Num}
                key=${key}
                label=${t(`edit.${key}`)}
                unit="ms"
                value=${value[key]}
                onChange=${(v) => onChange({ ...value, [key]: v ?? 1 })}
              />`,
          )
    }
  </div>`;
}

export function Network({ doc, t }) {
  const net = doc.network;
  const put = (more) => e.change({ network: { ...net, ...more } });
  return html`<div class="row">
      <${Choice}
        label=${t("edit.fetching")}
        value=${doc.fetching}
        options=${[
          ["manual", t("title.fetching.manual")],
          ["auto", t("title.fetching.auto")],
        ]}
        onChange=${(fetching) => e.change({ fetching })}
      />
      <${Span}
        label=${t("edit.duration")}
        value=${doc.duration_ms}
        none=${60000}
        onChange=${(v) => e.change({ duration_ms: v })}
      />
    </div>
    ${["delay_ms", "control_delay_ms"].map(
      (key) =>
        html`<${Delay}
          key=${key}
          name=${t(`edit.${key}`)}
          value=${net[key]}
          t=${t}
          onChange=${(v) => put({ [key]: v })}
        />`,
    )}
    <${Num} label=${t("edit.loss")} value=${net.loss} onChange=${(v) => put({ loss: v ?? 0 })} />`;
}
