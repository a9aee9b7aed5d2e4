// A step through all releases: a slider, marked where the chain changes, and the forms of the
// chain side by side, with what was renamed, split or moved between one and the next.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { Gap, humps, Reason } from "./rows.js";

/** Where a step's chains change: the forms that they have had, from old to new. */
export async function loadForms(digest, n) {
  const address = `/r/${digest}/through.json?step=${n}`;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(address);
  return (await answer.json()).forms;
}

const span = (form) => (form.since === form.until ? form.since : `${form.since} – ${form.until}`);

/** The kinds of changes with which a form begins, each once. */
const kindsOf = (form) => [
  ...new Set(
    form.stacks.flatMap((one) => [
      ...(one.moved ? ["thread"] : []),
      ...one.frames.map((frame) => frame[3]).filter(Boolean),
      ...(one.gone.length ? ["gone"] : []),
    ]),
  ),
];

const words = (form) => kindsOf(form).map((kind) => s.t.value(`lens.kind.${kind}`));

/** All releases on a line: the other one is pulled along it.  A mark where the chain changes. */
export function Slider({ a, b, choose, facts, forms }) {
  const t = s.t.value;
  const names = facts.releases.map(({ name }) => name);
  const at = names.indexOf(b || a);
  const here = forms.find((form) => names.indexOf(form.until) >= at);
  const begins = here && forms.indexOf(here) > 0 && here.since === names[at];
  const changes = begins ? words(here).join(", ") || t("lens.changes") : "";
  return html`<label class="field slider"
    >${t("lens.slider")}
    <span class="slide"
      ><input
        type="range"
        min="0"
        max=${names.length - 1}
        value=${at}
        aria-valuetext=${`Kafka ${names[at]}${changes && `: ${changes}`}`}
        onInput=${(event) => choose(names[Number(event.target.value)])}
      /><span class="changes" aria-hidden="true"
        >${forms
          .slice(1)
          .map(
            (form) =>
              html`<i
                key=${form.since}
                class=${form === here ? "here" : ""}
                style=${{ left: `${(100 * names.indexOf(form.since)) / (names.length - 1)}%` }}
                title=${`${form.since}: ${words(form).join(", ")}`}
              ></i>`,
          )}</span
      ></span
    >
    <output
      >${`${names[0]} … `}<b>${names[at]}</b>${` … ${names.at(-1)}`}${
        changes && html` <span class="pill">${changes}</span>`
      }</output
    ></label
  >`;
}

function Frame({ frame, acting }) {
  const [name, , gap, kind, of] = frame;
  return html`<li class=${`${acting ? "acting" : ""} ${kind ? "changed" : ""}`}>
    ${gap && html`<${Gap} kind=${gap} />`}<code class="name">${humps(name)}</code>
    ${kind && html`<span class="pill">${s.t.value(`lens.kind.${kind}`)}</span>`}
    ${of && html`<span class="soft was">${s.t.value("lens.was")} <code>${humps(of)}</code></span>`}
  </li>`;
}

function Chain({ form, one }) {
  const t = s.t.value;
  if (one.reason) return html`<${Reason} stack=${one} release=${{ release: form.since }} />`;
  return html`<p class="thread">
      <code>${one.thread}</code
      >${one.moved && html` <span class="pill">${t("lens.kind.thread")}</span>`}
    </p>
    <ol class="frames">
      ${one.frames.map(
        (frame, i) => html`<${Frame} key=${i} frame=${frame} acting=${i === one.acting} />`,
      )}
    </ol>
    ${
      one.gone.length > 0 &&
      html`<p class="soft was">
        <span class="pill">${t("lens.kind.gone")}</span>${" "}
        ${one.gone.map((name) => html`<code key=${name}>${humps(name)}</code> `)}
      </p>`
    }`;
}

function Table({ forms, at, number, choose }) {
  const t = s.t.value;
  return html`<div class="formsbox" role="region" tabindex="0" aria-label=${t("lens.forms")}>
    <table class="forms">
      <thead>
        <tr>
          ${forms.map(
            (form) =>
              html`<th key=${form.since} scope="col" class=${form === at ? "here" : ""}>
                <button
                  type="button"
                  aria-pressed=${form === at}
                  onClick=${() => choose(form.since)}
                >
                  ${span(form)}
                </button>
                <span class="soft"
                  >${t(`lens.controller.${form.mode}`)}${" "}
                  <code class="rule">${form.stacks[number].rule}</code></span
                >
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        <tr>
          ${forms.map(
            (form) =>
              html`<td key=${form.since} class=${form === at ? "here" : ""}>
                <${Chain} form=${form} one=${form.stacks[number]} />
              </td>`,
          )}
        </tr>
      </tbody>
    </table>
  </div>`;
}

const opened = new Set(); // which chains' forms are, while one looks from release to release

/** All forms of one of the step's chains, side by side.  Closed until it is wanted. */
export function Forms({ forms, number, facts, a, b, choose }) {
  const names = facts.releases.map(({ name }) => name);
  const wanted = names.indexOf(b || a);
  const mine = forms.filter((form, i) => i === 0 || differs(form, forms[i - 1], number));
  const whole = mine.map((form, i) => ({ ...form, until: endOf(forms, mine[i + 1]) }));
  const at = whole.find((form) => names.indexOf(form.until) >= wanted);
  return (
    whole.length > 1 &&
    html`<details
      class="through"
      open=${opened.has(number)}
      onToggle=${(e) => opened[e.currentTarget.open ? "add" : "delete"](number)}
    >
      <summary>${s.t.value("lens.forms.n", { n: whole.length })}</summary>
      <p class="soft">${s.t.value("lens.forms.lead")}</p>
      <${Table} forms=${whole} at=${at} number=${number} choose=${choose} />
    </details>`
  );
}

const bare = ({ rule, thread, reason, acting, frames }) =>
  JSON.stringify([rule, thread, reason, acting, frames.map((f) => f.slice(0, 3))]);
const differs = (form, before, number) => bare(form.stacks[number]) !== bare(before.stacks[number]);
const endOf = (forms, next) => (next ? forms[forms.indexOf(next) - 1] : forms.at(-1)).until;
