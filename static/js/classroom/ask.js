// A question before a class: the stage that is held, the answers, and how the class answered.

import { html } from "htm/preact";
import { useEffect } from "preact/hooks";

import { role } from "../animator/room.js";
import * as s from "../animator/state.js";
import { Icon } from "../panels/common.js";
import * as asking from "./asking.js";

/** Questions to choose from, for who leads. */
function Offered() {
  const t = s.t.value;
  const found = asking.offered.value;
  return html`<section class="offered" aria-label=${t("class.ask.which")}>
    <header class="row">
      <h2 class="grow">${t(found.length ? "class.ask.which" : "class.ask.none")}</h2>
      <button
        class="btn quiet square"
        type="button"
        aria-label=${t("bad.close")}
        onClick=${() => {
          asking.offered.value = null;
        }}
      >
        <${Icon} name="close" />
      </button>
    </header>
    <ol>
      ${found.map(
        (one) =>
          html`<li key=${one.probe}>
            <button class="choice" type="button" onClick=${() => asking.put(one)}>
              <span class="grow">${one.ask}</span
              ><span class="soft num">${t("class.ask.at", { step: one.step })}</span>
            </button>
          </li>`,
      )}
    </ol>
  </section>`;
}

/** How many gave which answer; once it is closed with what is right and who believes what. */
function Histogram({ poll }) {
  const t = s.t.value;
  const most = Math.max(1, ...poll.histogram.map((row) => row.n));
  return html`<ol class="histogram">
    ${poll.histogram.map((row, i) => {
      const right = poll.right === i;
      const belief = poll.beliefs?.[row.ids?.[0]];
      const mine = poll.mine?.text === row.text;
      return html`<li key=${row.text} class=${right ? "ok" : ""}>
        <p class="row">
          <span class="grow"
            >${right && html`<${Icon} name="tick" />`}${row.text}${
              mine && html` <b class="you">${t("class.ask.you")}</b>`
            }</span
          ><b class="num">${row.n}</b>
        </p>
        <div class="share" style=${`--share: ${row.n / most}`}></div>
        ${
          row.certain > 0 && html`<p class="soft">${t("class.ask.certain", { n: row.certain })}</p>`
        }
        ${right && html`<p class="soft">${poll.why}</p>`}
        ${
          belief &&
          html`<details>
            <summary>${belief[0]}</summary>
            <p class="soft">${belief[1]}</p>
          </details>`
        }
      </li>`;
    })}
  </ol>`;
}

const SURE = ["sure.1", "sure.2", "sure.3"]; // how sure one may be: from 1 on, by its word

/** Asked before the answer, and may be left out. */
function Sure() {
  const t = s.t.value;
  return html`<fieldset class="sure">
    <legend>${t("sure.ask")}</legend>
    ${SURE.map(
      (word, i) =>
        html`<label key=${word} class="chip"
          ><input
            type="radio"
            name="sure"
            value=${i + 1}
            checked=${asking.sure.value === i + 1}
            onChange=${() => {
              asking.sure.value = i + 1;
            }}
          /><span>${t(word)}</span></label
        >`,
    )}
  </fieldset>`;
}

const Choices = ({ poll }) =>
  html`<div class="choices">
    ${poll.words.choices.map(
      (text, i) =>
        html`<button
          key=${i}
          class=${`choice ${["line", "moves"].includes(poll.words.form) ? "mono" : ""}`}
          type="button"
          onClick=${() => asking.answer({ choice: i })}
        >
          <kbd aria-hidden="true">${i + 1}</kbd><span>${text}</span>
        </button>`,
    )}
  </div>`;

function Leading({ poll }) {
  const t = s.t.value;
  const { room, following = 0, looking = 0 } = s.classroom.value;
  const table = html`<a class="btn" href=${`/class/${room}/answers.csv`} download
    >${t("class.ask.csv")}</a
  >`;
  if (!poll.open)
    return html`<${Histogram} poll=${poll} />
      <p class="row">
        <button class="btn primary" type="button" onClick=${asking.putAway}>
          ${t("class.ask.done")}</button
        >${table}
      </p>`;
  return html`<ol class="asis">
      ${poll.words.choices.map((text) => html`<li key=${text}>${text}</li>`)}
    </ol>
    <p class="row">
      <button class="btn primary" type="button" onClick=${asking.close}>
        ${t("class.ask.close")}
      </button>
      <b role="status">${t("class.ask.answers", { n: poll.answers, all: following + looking })}</b>
    </p>
    <details>
      <summary>${t("class.ask.sofar")}</summary>
      <${Histogram} poll=${poll} />
    </details>`;
}

function Answering({ poll }) {
  const t = s.t.value;
  const right = () => poll.mine.text === poll.histogram[poll.right].text;
  if (!poll.open)
    return html`${
        poll.mine
          ? html`<p class=${`verdict ${right() ? "ok" : "bad"}`}>
              ${t("class.ask.yours", { text: poll.mine.text })}
            </p>`
          : html`<p class="soft">${t("class.ask.missed")}</p>`
      } <${Histogram} poll=${poll} />`;
  if (poll.mine)
    return html`<p class="verdict ok" role="status">
        ${t("class.ask.given", { text: poll.mine.text, pupil: poll.mine.pupil })}
      </p>
      <p class="soft">${t("class.ask.wait", { n: poll.answers })}</p>`;
  const byHand = ["offset", "broker", "brokers", "records"].includes(poll.words.form);
  return html`<${Sure} />${byHand && html`<p class="soft">${t("class.ask.hand")}</p>`}<${Choices}
      poll=${poll}
    />`;
}

export function ClassAsk() {
  const t = s.t.value;
  const poll = asking.poll.value;
  useEffect(() => {
    const byHand = ({ origin, data }) => {
      if (origin === location.origin && typeof data?.by === "string")
        asking.answer({ by: data.by });
    };
    const byKey = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !asking.poll.value) return;
      const place = Number(event.key) - 1;
      if (place >= 0 && place < asking.poll.value.words.choices.length)
        asking.answer({ choice: place });
    };
    addEventListener("message", byHand);
    addEventListener("keydown", byKey);
    return () => {
      removeEventListener("message", byHand);
      removeEventListener("keydown", byKey);
    };
  }, []);
  if (!poll) return asking.offered.value ? html`<${Offered} />` : null;
  const Part = role.value === "lead" ? Leading : Answering;
  return html`<article class="polled" aria-labelledby="polled" data-open=${poll.open ? "1" : "0"}>
    <div class="head">
      <p class="soft">${poll.words.kafka} · ${t("class.ask.number", { n: poll.n })}</p>
      <p>${poll.words.next}</p>
      <h2 id="polled">${poll.words.ask}</h2>
    </div>
    <div class="side"><${Part} poll=${poll} /></div>
    <iframe class="stage" src=${poll.stage} title=${t("class.ask.stage")}></iframe>
  </article>`;
}
