// Small fields the parts of the form are made of.

import { html } from "htm/preact";

import { Icon } from "../panels/common.js";
import { msOf, numberOf, spanText } from "./model.js";

/** A labelled text field; what is typed counts when the field is left or Enter is pressed. */
export function Text({
  label,
  value,
  onChange,
  list,
  wide = false,
  placeholder = "",
  bad = false,
  hidden = false,
  size,
}) {
  return html`<label class=${`field ${wide ? "wide" : ""}`}
    ><span class=${hidden ? "sr" : ""}>${label}</span
    ><input
      type="text"
      value=${value ?? ""}
      list=${list}
      placeholder=${placeholder}
      size=${size}
      aria-invalid=${bad ? "true" : null}
      onChange=${(e) => onChange(e.target.value)}
  /></label>`;
}

export function Num({
  label,
  value,
  onChange,
  unit = "",
  hidden = false,
  placeholder = "",
  title,
}) {
  return html`<label class="field" title=${title}
    ><span class=${hidden ? "sr" : ""}>${label}</span
    ><input
      type="text"
      inputmode="decimal"
      size="8"
      value=${value ?? ""}
      placeholder=${placeholder}
      onChange=${(e) => onChange(e.target.value.trim() === "" ? null : numberOf(e.target.value))}
    />${unit && html`<span class="unit">${unit}</span>`}</label
  >`;
}

/** A span of time: in ms for the scenario, 30d or 5m for the reader; empty is `none`. */
export function Span({ label, value, onChange, hidden = false, none = 0 }) {
  return html`<label class="field"
    ><span class=${hidden ? "sr" : ""}>${label}</span
    ><input
      type="text"
      size="7"
      value=${spanText(value)}
      onChange=${(e) => onChange(e.target.value.trim() === "" ? none : msOf(e.target.value))}
  /></label>`;
}

/** options: [[value, words], …] */
export function Choice({ label, value, options, onChange, hidden = false }) {
  return html`<label class="field"
    ><span class=${hidden ? "sr" : ""}>${label}</span
    ><select value=${String(value)} onChange=${(e) => onChange(e.target.value)}>
      ${options.map(
        ([one, said]) =>
          html`<option key=${one} value=${one} selected=${String(one) === String(value)}>
            ${said}
          </option>`,
      )}
    </select></label
  >`;
}

export function Check({ label, value, onChange, title }) {
  return html`<label class="field" title=${title}
    ><input
      type="checkbox"
      checked=${value}
      onChange=${(e) => onChange(e.target.checked)}
    />${" "}${label}</label
  >`;
}

export function Small({ icon, label, onClick, off = false }) {
  return html`<button
    type="button"
    class="btn quiet square small"
    aria-label=${label}
    title=${label}
    aria-disabled=${off ? "true" : null}
    onClick=${() => {
      if (!off) onClick();
    }}
  >
    <${Icon} name=${icon} />
  </button>`;
}

export function Add({ label, onClick }) {
  return html`<button type="button" class="btn small" onClick=${onClick}>+ ${label}</button>`;
}
