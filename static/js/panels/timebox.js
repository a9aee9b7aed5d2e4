// Breakpoints, "go on until", bookmarks, and how the rail is spaced: what else there is to say of
// time.

import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { toggle } from "../animator/bookmarks.js";
import { goTo } from "../animator/player.js";
import { goUntil } from "../animator/playing.js";
import * as s from "../animator/state.js";
import { Add, Breakpoints } from "./breakpoints.js";
import { Icon } from "./common.js";

const UNTIL = ["moment", "chapter", "violation", "break"];

function Bookmarks({ close }) {
  const t = s.t.value;
  return html`${s.bookmarks.value.map(
      (n) =>
        html`<button
          key=${n}
          type="button"
          class="btn"
          onClick=${() => {
            close();
            goTo(n, { leaveCrumb: true });
          }}
        >
          ${t("mark.step", { n })}
        </button>`,
    )}
    <button type="button" class="btn" onClick=${() => toggle()}>
      <${Icon}
        name="flag"
      />${t(s.bookmarks.value.includes(s.n.value) ? "mark.remove" : "mark.add")}
    </button>`;
}

function Box({ close }) {
  const t = s.t.value;
  const go = (what) => {
    close();
    goUntil(what);
  };
  return html`<div class="timebox" id="timebox" role="dialog" aria-label=${t("timebox.label")}>
    <section>
      <h3>${t("until.title")}</h3>
      <div class="row">
        ${UNTIL.map(
          (what) =>
            html`<button
              key=${what}
              type="button"
              class="btn"
              disabled=${what === "break" && !s.breaks.value.length}
              onClick=${() => go(what)}
            >
              ${t(`until.${what}`)}
            </button>`,
        )}
      </div>
    </section>
    <section>
      <h3>${t("break.title")}</h3>
      <${Breakpoints} />
      <${Add} />
    </section>
    <section>
      <h3>${t("mark.title")}</h3>
      <div class="row">
        <${Bookmarks} close=${close} />
      </div>
    </section>
    <label class="row"
      ><input
        type="checkbox"
        checked=${s.byTime.value}
        onChange=${(e) => {
          s.byTime.value = e.target.checked;
          s.remember("rail", e.target.checked ? "time" : "steps");
        }}
      />${" "}${t("rail.bytime")}</label
    >
  </div>`;
}

/** The button in the transport, and what it opens. */
export function TimeBox() {
  const t = s.t.value;
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event) => {
      if (!box.current?.contains(event.target)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  return html`<div
    class="timeboxes"
    ref=${box}
    onKeyDown=${(e) => {
      if (e.key === "Escape" && open) {
        e.stopPropagation();
        close();
      }
    }}
  >
    <button
      type="button"
      class="btn square"
      aria-expanded=${open ? "true" : "false"}
      aria-controls="timebox"
      aria-label=${t("timebox.label")}
      title=${t("timebox.label")}
      onClick=${() => setOpen(!open)}
    >
      <${Icon}
        name="flag"
      />${s.breaks.value.length > 0 && html`<span class="badge">${s.breaks.value.length}</span>`}
    </button>
    ${open && html`<${Box} close=${close} />`}
  </div>`;
}
