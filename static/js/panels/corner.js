// The stage's corner: which view, which layers, folded or not, how large.

import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { setLayer, setView, views } from "../animator/choose.js";
import * as s from "../animator/state.js";
import { LAYERS } from "../scene/layers.js";
import { Icon } from "./common.js";
import { drawn } from "./menu.js";

function Layers() {
  const t = s.t.value;
  const box = useRef(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event) => {
      if (!box.current?.contains(event.target)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const keys = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  return html`<div class="layers" ref=${box} onKeyDown=${keys}>
    <button
      type="button"
      class="btn"
      aria-expanded=${open ? "true" : "false"}
      aria-controls="layerlist"
      onClick=${() => setOpen(!open)}
    >
      ${t("corner.layers")}
    </button>
    ${
      open &&
      html`<fieldset id="layerlist" class="sheetlist">
        <legend class="sr">${t("corner.layers")}</legend>
        ${LAYERS.map(
          (name) =>
            html`<label key=${name} class="row"
              ><input
                type="checkbox"
                checked=${s.layers.value.has(name)}
                onChange=${() => setLayer(name)}
              />${" "}${t(`layer.${name}`)}</label
            >`,
        )}
      </fieldset>`
    }
  </div>`;
}

export function Corner() {
  const t = s.t.value;
  const shown = drawn.value;
  const [full, setFull] = useState(false);
  useEffect(() => {
    const heard = () => setFull(Boolean(document.fullscreenElement));
    addEventListener("fullscreenchange", heard);
    return () => removeEventListener("fullscreenchange", heard);
  }, []);
  if (!s.step.value) return null;
  const foldable = s.view.value === "tanks" && (s.unfolded.value || shown?.geo.foldW > 0);
  const large = () =>
    document.fullscreenElement
      ? document.exitFullscreen()
      : document.getElementById("board").requestFullscreen();
  return html`<div
    class="corner"
    style=${`--strip:${Math.round(shown?.geo.heads.strip ?? 44)}px`}
    role="group"
    aria-label=${t("corner.label")}
  >
    <label class="field"
      ><span class="sr">${t("corner.view")}</span
      ><select value=${s.view.value} onChange=${(e) => setView(e.target.value)}>
        ${views().map(
          (name) => html`<option key=${name} value=${name}>${t(`corner.${name}`)}</option>`,
        )}
      </select></label
    >
    ${s.view.value === "tanks" && html`<${Layers} />`}
    ${
      foldable &&
      html`<button
        type="button"
        class="btn quiet square"
        aria-pressed=${s.unfolded.value ? "true" : "false"}
        aria-label=${t(s.unfolded.value ? "corner.fold" : "corner.unfold")}
        title=${t(s.unfolded.value ? "corner.fold" : "corner.unfold")}
        onClick=${() => {
          s.unfolded.value = !s.unfolded.value;
        }}
      >
        <${Icon} name=${s.unfolded.value ? "fold" : "unfold"} />
      </button>`
    }
    ${
      document.fullscreenEnabled &&
      html`<button
        type="button"
        class="btn quiet square full"
        aria-label=${t(full ? "corner.window" : "corner.full")}
        title=${t(full ? "corner.window" : "corner.full")}
        onClick=${large}
      >
        <${Icon} name="full" />
      </button>`
    }
  </div>`;
}
