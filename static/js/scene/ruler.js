// The strips above the lanes: the controller's record, the clients, the ruler, the divergence
// frame.

import { capital } from "../i18n/words.js";
import { fit, g, path, rect, text, textWidth, title } from "./node.js";

/** Offsets above the columns, the folded prefix's name, consumers' places. */
export function ruler(geo, view, { t, name }) {
  const y = geo.heads.ruler;
  const parts = [];
  const dense =
    geo.pitch >= 26
      ? 1
      : geo.pitch >= 13
        ? 2
        : geo.pitch >= 5
          ? 10
          : 10 ** Math.ceil(Math.log10(60 / geo.pitch));
  // Offsets in the millions are wider than a column.
  const every =
    [1, 2, 5, 10, 20, 50].find(
      (n) => n >= dense && n * geo.pitch > textWidth(String(geo.end), 11.5) + 8,
    ) ?? dense;
  if (geo.foldW)
    parts.push(
      text(
        "same",
        geo.left,
        y + 19,
        fit(t("ruler.same", { a: geo.base, b: geo.fold - 1 }), geo.foldW - 4, 11.5),
        "mono ruler",
      ),
    );
  for (let o = Math.ceil(geo.fold / every) * every; o < geo.end; o += every) {
    parts.push(
      text(`o${o}`, geo.x(o) + (geo.pitch - 3) / 2, y + 19, o, "mono ruler", {
        "text-anchor": "middle",
      }),
    );
  }
  parts.push(...notches(geo, y, t));
  for (const c of view.clients.filter(
    (one) => one.kind === "consumer" && one.position !== undefined && one.position >= geo.fold,
  )) {
    const x = geo.x(c.position) - 1.5;
    parts.push(
      g(`c-${c.id}`, [
        path("m", `M${x - 5} ${y + 21}h10l-5 6z`, "reads"),
        geo.pitch >= 26 &&
          x - 8 - textWidth(name(c.id), 11) > geo.logX - 12 &&
          x > 26 &&
          text("t", x - 8, y + 27, name(c.id), "readsname", { "text-anchor": "end" }),
        title("title", t("ruler.reads", { c: capital(name(c.id)), o: c.position })),
      ]),
    );
  }
  return g("ruler", parts, { class: "ruler" });
}

/** Where the acting leaders' epochs begin: who has the log up to there may join the ISR. */
function notches(geo, y, t) {
  return starts(geo).map(([e, o]) =>
    g(
      `notch${e}`,
      [
        path("l", `M${geo.x(o) - 1.5} ${y + 1}v24`, "notch"),
        geo.pitch >= 26 && text("t", geo.x(o) + 2, y + 7, `e${e}`, "mono notchtext"),
        title("title", t("mark.notch", { e, o })),
      ],
      { "data-id": `notch:${e}`, "data-value": o },
    ),
  );
}

/** [[epoch, offset]] of the acting leaders whose epoch begins on the stage. */
function starts(geo) {
  const found = new Map();
  for (const r of Object.values(geo.part.replicas)) {
    if (
      r.role === "leader" &&
      r.epochStart !== null &&
      r.epochStart >= geo.fold &&
      r.epochStart > geo.base
    )
      found.set(r.belief.le, r.epochStart);
  }
  return [...found];
}

/** The frame around columns in which two replicas hold different records. */
export function divergence(geo, view, { t, alarm }) {
  const d = geo.part.differ;
  if (!d) return null;
  const x = geo.x(Math.max(d[0], geo.fold)) - 4;
  const w = geo.x(d[1]) - x + 1;
  const y = geo.heads.ruler + 2;
  const label = t("ruler.differ", { o: d[0] });
  const wide = textWidth(label, 12, true) + 24;
  // An epoch's notch under the label would be hidden: the label gives way.
  const hidden = starts(geo)
    .map(([, o]) => geo.x(o))
    .filter((at) => at > x + w - 18 && at < x + w + wide);
  const at = hidden.length ? Math.max(...hidden) + 22 : x + w + 2;
  return g(
    "diverge",
    [
      rect("r", x, y + 22, w, geo.height - y - 28, `diverge ${alarm ? "alarm" : ""}`, { rx: 6 }),
      rect("bg", at, y + 3, wide, 20, "divbox", { rx: 10 }),
      text("t", at + 11, y + 17, label, "divtext"),
    ],
    { "data-id": "differ", "data-from": d[0], "data-to": d[1] },
  );
}
