// The controller's record of the partition, a thin strip above everything.  Pure.

import { fit, g, line, rect, spans, text, textWidth } from "../node.js";
import { fieldsOf } from "../words.js";

/** Where the controller's one word stands when its line is not drawn, and is pressed: on a desk,
 *  and on a phone only once it is gone. */
export function control(geo, view, { t }) {
  const dead = view.controller.alive === false;
  if (geo.heads.strip) return { x: 0, y: 3, w: Math.min(140, geo.width), h: 32 };
  if (view.quorum || (geo.narrow && !dead)) return null;
  const { small } = geo.type;
  const label = dead ? `${t("scene.controller")} · ${t("ctl.dead")}` : t("scene.controller");
  return { x: 4, y: geo.heads.sky + 4, w: textWidth(label, small) + 16, h: 28, label, dead };
}

/** That word; where the line is drawn, or nothing is said, nothing. */
export function word(geo) {
  const at = geo.control;
  if (!at?.label) return null;
  const size = geo.type.small;
  const style = { style: `font-size:${size}px` };
  return g(
    "K",
    [text("t", at.x + 8, at.y + 19, at.label, `small ${at.dead ? "bad" : ""}`, style)],
    {
      class: "controller",
      "data-id": "K",
      "data-alive": at.dead ? 0 : 1,
    },
  );
}

const LEAST = 24; // px of a value that is cut short; less of it says nothing

/** One line on a desk, two on a phone; what does not fit is in the tables. */
export function strip(geo, view, { t, name, changed }) {
  const { record } = geo.part;
  const c = view.controller;
  const dead = c.alive === false;
  const size = geo.type.small;
  // A style, since the sheet's own size would win over an attribute, and fields would touch.
  const letters = `font-size:${size}px`;
  const lineH = geo.narrow ? 18 : 24;
  const right = geo.width - 10;
  const rows = geo.narrow ? 2 : 1;
  const head = t("scene.controller");
  const state = dead ? t("ctl.dead") : "";
  const parts = [
    rect("bg", 0, 3, geo.width, geo.heads.strip - 6, `strip ${dead ? "dead" : ""}`, { rx: 8 }),
    text("name", 12, lineH - 1, head, `name ${dead ? "bad" : ""}`, { style: letters }),
  ];
  let at = 12 + textWidth(head, size, true) + 12;
  let row = 0;
  if (state) {
    parts.push(text("epoch", at, lineH - 1, state, "role bad", { style: letters }));
    at += textWidth(state, size) + 14;
  }
  if (view.partitions.length > 1 && geo.part.name) {
    parts.push(text("p", at, lineH - 1, geo.part.name, "small", { style: letters }));
    at += textWidth(geo.part.name, size) + 14;
  }
  for (const [key, label, full] of fieldsOf(geo.part, view.mode, { t, name })) {
    const w1 = textWidth(label, size);
    let w2 = textWidth(String(full), size, true);
    if (at + w1 + w2 > right && row + 1 < rows) {
      row += 1;
      at = 12;
    }
    if (at + w1 + Math.min(w2, LEAST) > right) break;
    const value = fit(String(full), right - at - w1, size, true);
    w2 = textWidth(value, size, true);
    const y = lineH - 1 + row * lineH;
    parts.push(
      g(
        `f-${key}`,
        [
          spans(
            "v",
            at,
            y,
            [
              [label, "quiet"],
              [value, "strong"],
            ],
            "field",
            { style: letters },
          ),
          changed.has(`rec:${key}`) && line("chg", at, y + 5, at + w1 + w2, y + 5, "changed"),
        ],
        {
          "data-id": `rec:${key}`,
          "data-value": Array.isArray(record[key]) ? record[key].join(",") : (record[key] ?? ""),
        },
      ),
    );
    at += w1 + w2 + (geo.narrow ? 12 : 20);
  }
  return g("controller", parts, {
    class: "controller",
    "data-id": "K",
    "data-alive": dead ? 0 : 1,
  });
}
