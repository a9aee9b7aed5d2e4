// The button ⋯, and the sheet that it opens, which is fetched with its first opening.

import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";

import { MoreSheet } from "../animator/on_request.js";
import * as s from "../animator/state.js";

/** A sheet over the page by its name: Escape and a press outside `box` close it. */
export function useSheet(name) {
  const box = useRef(null);
  const open = s.sheet.value === name;
  const close = () => {
    if (s.sheet.value === name) s.sheet.value = null;
  };
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event) => {
      if (!box.current?.contains(event.target)) close();
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const keys = (event) => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    close();
    box.current?.querySelector("button")?.focus();
  };
  return { box, open, close, keys };
}

export function More() {
  const t = s.t.value;
  const { box, open, close, keys } = useSheet("more");
  return html`<div class="more" ref=${box} onKeyDown=${keys}>
    <button
      type="button"
      class="btn quiet square"
      id="more"
      aria-expanded=${open ? "true" : "false"}
      aria-controls="moresheet"
      aria-label=${t("title.more")}
      title=${t("title.more")}
      onClick=${() => {
        s.sheet.value = open ? null : "more";
      }}
    >
      ⋯${s.breaks.value.length > 0 && html`<span class="badge">${s.breaks.value.length}</span>`}
    </button>
    ${
      open &&
      html`<div class="oversheet" id="moresheet" role="dialog" aria-label=${t("title.more")}>
        <${MoreSheet} close=${close} />
      </div>`
    }
  </div>`;
}
