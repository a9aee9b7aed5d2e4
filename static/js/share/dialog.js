// The share dialog: a link to this moment, a frame for other pages, files, and a test.

import { computed, signal } from "@preact/signals";
import { html } from "htm/preact";
import { render } from "preact";
import { useRef } from "preact/hooks";

import * as s from "../animator/state.js";
import { alone } from "../core/place.js";
import { tabKeys } from "../panels/common.js";
import { Class } from "./class.js";
import { Export, Test } from "./files.js";
import { Embed } from "./frames.js";
import { Link } from "./links.js";

const PARTS = { link: Link, embed: Embed, export: Export, test: Test, class: Class };
const part = signal("link");
const opened = signal(false);

/** Opens the dialog, which is made when it is first wanted. */
export function share() {
  const box = document.getElementById("sharebox");
  if (!box.firstChild) render(html`<${Share} />`, box);
  opened.value = true;
  /** @type {HTMLDialogElement} */ (document.getElementById("share")).showModal();
}

/** The same, opened where a class is started or ended. */
export function shareClass() {
  part.value = "class";
  share();
}

const names = Object.keys(PARTS).filter((name) => name !== "class" || !alone());
const current = computed(() => (names.includes(part.value) ? part.value : "link"));

function Share() {
  const t = s.t.value;
  const bar = useRef(null);
  const pick = (name) => {
    part.value = name;
    bar.current?.querySelector(`#share-${name}`)?.focus();
  };
  const Part = PARTS[current.value];
  return html`<dialog
    id="share"
    aria-labelledby="sharetitle"
    onClose=${() => {
      opened.value = false;
    }}
  >
    <form method="dialog">
      <header class="row">
        <h2 id="sharetitle" class="grow">${t("share.title")}</h2>
        <button class="btn">${t("bad.close")}</button>
      </header>
    </form>
    ${
      names.length > 1 &&
      html`<div
        role="tablist"
        aria-label=${t("share.title")}
        ref=${bar}
        onKeyDown=${tabKeys(names, current.value, pick)}
      >
        ${names.map(
          (name) =>
            html`<button
              key=${name}
              type="button"
              role="tab"
              id=${`share-${name}`}
              aria-selected=${name === current.value ? "true" : "false"}
              aria-controls="sharepart"
              tabindex=${name === current.value ? 0 : -1}
              onClick=${() => {
                part.value = name;
              }}
            >
              ${t(`share.${name}`)}
            </button>`,
        )}
      </div>`
    }
    <div role=${names.length > 1 ? "tabpanel" : null} id="sharepart" class="sharepart">
      ${opened.value && s.facts.value && html`<${Part} />`}
    </div>
  </dialog>`;
}
