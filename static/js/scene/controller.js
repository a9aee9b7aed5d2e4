// The strip on top: the controller and its record of the partition.

import { fit, g, line, rect, spans, text, textWidth } from "./node.js";

/** [[key, label, value]] of the record: what is always there, and what is there only now. */
export function fieldsOf(part, mode, { t, name }) {
  const { record } = part;
  const list = (ids) => `[${ids.map((id) => name(id, true)).join(", ")}]`;
  if (part.gone) return [["gone", "", t(`ctl.${part.gone}`)]];
  return [
    [
      "leader",
      `${t("ctl.leader")} `,
      record.leader >= 0 ? name(record.leader, true) : t("ctl.none"),
    ],
    ["le", `${t("ctl.epoch")} `, record.le],
    ["pe", `${mode === "zk" ? t("ctl.zversion") : t("ctl.pe")} `, record.pe],
    ["isr", "ISR ", list(record.isr)],
    record.elr?.length && ["elr", "ELR ", list(record.elr)],
    record.leader < 0 &&
      [record.lastKnown ?? []].flat().some((b) => b >= 0) && [
        "lastKnown",
        `${t("ctl.last")} `,
        list([record.lastKnown].flat()),
      ],
    (record.recovering || record.recovery) && ["recovering", "", t("ctl.recovering")],
    record.adding?.length && ["adding", `${t("ctl.adding")} `, list(record.adding)],
    record.removing?.length && ["removing", `${t("ctl.removing")} `, list(record.removing)],
  ].filter(Boolean);
}

/** One field of the record, with a line below it where this step changed it. */
function field({ key, label, value, size, at, y, long }, record, changed) {
  return g(
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
        { "font-size": size },
      ),
      changed.has(`rec:${key}`) && line("chg", at, y + 5, at + long, y + 5, "changed"),
    ],
    {
      "data-id": `rec:${key}`,
      "data-value": Array.isArray(record[key]) ? record[key].join(",") : (record[key] ?? ""),
    },
  );
}

/** The controller and its record of the partition. */
export function controller(geo, view, { t, name, changed }) {
  const { record } = geo.part;
  const c = view.controller;
  const dead = c.alive === false;
  const x = geo.narrow ? 8 : geo.gutter + 6;
  const fields = fieldsOf(geo.part, view.mode, { t, name });
  const parts = [
    rect(
      "bg",
      geo.narrow ? 0 : geo.gutter,
      3,
      geo.width - (geo.narrow ? 1 : geo.gutter + 4),
      geo.heads.strip - 8,
      `strip ${dead ? "dead" : ""}`,
      { rx: 8 },
    ),
    text("name", x + 8, 26, view.mode === "zk" ? t("ctl.zk") : t("ctl.kraft"), "name", {
      "font-size": 13.5,
    }),
  ];
  const words = dead ? t("ctl.dead") : t("ctl.reign", { e: c.epoch });
  parts.push(
    text(
      "epoch",
      geo.narrow ? geo.width - 10 : geo.gutter + geo.cardW - 12,
      26,
      words,
      `role ${dead ? "bad" : ""}`,
      { "text-anchor": "end" },
    ),
  );
  let at = geo.narrow ? 16 : geo.logX + 10;
  let y = geo.narrow ? 50 : 26;
  const size = geo.narrow ? 11.5 : 12.5;
  if (view.partitions.length > 1 || (geo.part.gone && geo.part.name)) {
    parts.push(text("p", at, y, geo.part.name, "mono small"));
    at += textWidth(geo.part.name, 12) + 14;
  }
  for (const [key, label, full] of fields) {
    const w1 = textWidth(label, size);
    const value = fit(
      String(full),
      Math.max(60, geo.width - (geo.narrow ? 16 : at) - w1 - 16),
      size,
      true,
    );
    const w2 = textWidth(value, size, true);
    if (geo.narrow && at + w1 + w2 > geo.width - 12) {
      at = 16;
      y += 19;
    }
    parts.push(field({ key, label, value, size, at, y, long: w1 + w2 }, record, changed));
    at += w1 + w2 + (geo.narrow ? 14 : 16);
  }
  return g("controller", parts, {
    class: "controller",
    "data-id": "K",
    "data-alive": dead ? 0 : 1,
  });
}
