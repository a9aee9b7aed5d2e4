// The bar of a class: who leads, who follows, where it is, and the way back to it.

import { html } from "htm/preact";

import { shareClass } from "../animator/on_request.js";
import * as s from "../animator/state.js";
import { Icon } from "../panels/common.js";
import { choose, poll } from "./asking.js";
import { followAgain, lookAround } from "./classroom.js";
import { takeLead } from "./leading.js";

/** @param {Classroom} here */
function state({ role, ended, own, led }) {
  if (ended) return "class.ended";
  if (role === "lead") return "class.lead";
  if (!led) return "class.away";
  return own ? "class.own" : "class.follow";
}

/** How many are there, in words.
 * @param {Classroom} here */
export function present({ following, looking }) {
  const t = s.t.value;
  const there = t(following ? "class.following" : "class.nobody", { n: following });
  return looking ? `${there} ${t("class.looking", { n: looking })}` : there;
}

/** Where the class is, for those who are elsewhere.
 * @param {Classroom} here */
const place = ({ run, step }) =>
  s.t.value(run === s.run.value ? "class.at" : "class.elsewhere", { step });

/** What who leads can do: ask the class, and tell its address. */
function Leads() {
  const t = s.t.value;
  return html`${
      !poll.value &&
      html`<button
        class="btn primary"
        id="askclass"
        type="button"
        disabled=${!s.online.value}
        title=${t("class.ask.why")}
        onClick=${choose}
      >
        ${t("class.ask")}
      </button>`
    }<button class="btn" type="button" aria-haspopup="dialog" onClick=${() => shareClass()}>
      ${t("class.open")}
    </button>`;
}

export function ClassBar() {
  const t = s.t.value;
  const here = s.classroom.value;
  if (!here) return null;
  const { role, room, own, mine, ended } = here;
  const away = () => {
    s.classroom.value = null;
  };
  const key = state(here);
  return html`<section class="bar class" aria-label=${t("class.label")} data-class=${key.slice(6)}>
    <${Icon} name="people" />
    <p class="grow row">
      <span role="status"><b>${t(key)}</b></span
      >${!ended && html`<span class="mono">${room}</span>`}
      <span class="soft"
        >${role === "lead" ? present(here) : own && here.run ? place(here) : ""}</span
      >
    </p>
    <div class="acts">
      ${role === "lead" && html`<${Leads} />`}
      ${
        role === "follow" &&
        html`<button
          class=${`btn ${own ? "primary" : ""}`}
          type="button"
          disabled=${own && !s.online.value}
          onClick=${own ? followAgain : lookAround}
        >
          ${t(own ? "class.again" : "class.look")}
        </button>`
      }
      ${
        role === "follow" &&
        mine &&
        html`<button
          class="btn"
          type="button"
          disabled=${!s.online.value}
          title=${t("class.take.why")}
          onClick=${takeLead}
        >
          ${t("class.take")}
        </button>`
      }
      ${
        !role &&
        html`<button
          class="btn quiet square"
          type="button"
          aria-label=${t("bad.close")}
          onClick=${away}
        >
          <${Icon} name="close" />
        </button>`
      }
    </div>
  </section>`;
}
