// A link as a QR code, drawn as one SVG path.

import { html } from "htm/preact";
import * as s from "../animator/state.js";
import { modules } from "../core/qr.js";

export function Code({ text, open = false }) {
  const t = s.t.value;
  const rows = modules(text);
  if (!rows) return html`<p class="soft">${t("share.qr.long", { n: text.length })}</p>`;
  const d = rows
    .flatMap((row, y) => row.map((on, x) => (on ? `M${x + 4} ${y + 4}h1v1h-1z` : "")))
    .join("");
  const size = rows.length + 8;
  return html`<details class="qr" open=${open}>
    <summary>${t("share.qr")}</summary>
    <svg
      viewBox=${`0 0 ${size} ${size}`}
      role="img"
      aria-label=${t("share.qr.label")}
      shape-rendering="crispEdges"
    >
      <rect width=${size} height=${size} fill="#fff" />
      <path d=${d} fill="#000" />
    </svg>
  </details>`;
}
