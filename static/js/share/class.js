// A class in the share dialog: to start one, its address for a wall or a chat, and its end.

import { html } from "htm/preact";
import { useState } from "preact/hooks";

import { addressOf } from "../animator/room.js";
import * as s from "../animator/state.js";
import { present } from "../classroom/bar.js";
import { end, start } from "../classroom/leading.js";
import { Code, Copied } from "./common.js";

export function Class() {
  const t = s.t.value;
  const [busy, setBusy] = useState(false);
  const here = s.classroom.value;
  const during = (work) => async () => {
    setBusy(true);
    await work();
    setBusy(false);
  };
  if (!here?.role) {
    return html`<div class="stack">
      <p>${t("class.why")}</p>
      <p class="soft">${t("class.bounds")}</p>
      <p>
        <button
          type="button"
          class="btn primary"
          disabled=${busy || !s.online.value}
          onClick=${during(start)}
        >
          ${t("class.start")}
        </button>
      </p>
    </div>`;
  }
  const url = addressOf(here.room);
  return html`<div class="stack">
    <p>${t(here.role === "lead" ? "class.tell" : "class.follow")}</p>
    <${Copied} label=${t("class.address")} text=${url} />
    <${Code} text=${url} open=${true} />
    ${
      here.role === "lead" &&
      html`<div class="row">
        <p class="grow">${present(here)}</p>
        <button
          type="button"
          class="btn"
          disabled=${busy || !s.online.value}
          onClick=${during(end)}
        >
          ${t("class.end")}
        </button>
      </div>`
    }
  </div>`;
}
