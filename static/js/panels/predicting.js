// The question in the place of the stage: the page that asks, judges and remembers it, in a frame.

import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";

import { end } from "../animator/predicting.js";
import * as s from "../animator/state.js";
import { placed } from "../core/place.js";

export function Predicting() {
  const t = s.t.value;
  const frame = useRef(null);
  const was = s.predicting.value;
  useEffect(() => {
    const heard = ({ origin, source, data }) => {
      if (origin !== location.origin || source !== frame.current?.contentWindow) return;
      if (data?.leave) end();
      else if (data?.onward?.run === was.run) end(data.onward);
      else if (data?.onward) location.assign(placed(data.onward.href));
    };
    addEventListener("message", heard);
    return () => removeEventListener("message", heard);
  }, [was]);
  if (!was) return null;
  return html`<article class="predicting">
    <p class="row">
      <button class="btn" type="button" id="unpredict" onClick=${() => end()}>
        ${t("predict.back", { step: was.n })}
      </button>
      <span class="soft">${t("predict.hidden")}</span>
    </p>
    <iframe
      ref=${frame}
      src=${placed(`/practice/question?run=${was.run}&step=${was.n}&within=1&lang=${s.lang.value}`)}
      title=${t("predict.frame")}
    ></iframe>
  </article>`;
}
