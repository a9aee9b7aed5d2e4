// The strips above the lanes: the controller's record, the clients, the ruler, the divergence frame.

import { fit, g, icon, line, path, rect, spans, text, textWidth, title } from "./node.js";

/** The controller and its record of the partition. */
export function controller(geo, view, { t, name, changed }) {
  const { record } = geo.part;
  const c = view.controller;
  const dead = c.alive === false;
  const x = geo.narrow ? 8 : geo.gutter + 6;
  const list = (ids) => `[${ids.map((id) => name(id, true)).join(", ")}]`;
  const fields = geo.part.gone
    ? [["gone", "", t(`ctl.${geo.part.gone}`)]]
    : [
        [
          "leader",
          `${t("ctl.leader")} `,
          record.leader >= 0 ? name(record.leader, true) : t("ctl.none"),
        ],
        ["le", `${t("ctl.epoch")} `, record.le],
        ["pe", `${view.mode === "zk" ? t("ctl.zversion") : t("ctl.pe")} `, record.pe],
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
            { "font-size": size },
          ),
          changed.has(`rec:${key}`) && line("chg", at, y + 5, at + w1 + w2, y + 5, "changed"),
        ],
        {
          "data-id": `rec:${key}`,
          "data-value": Array.isArray(record[key]) ? record[key].join(",") : (record[key] ?? ""),
        },
      ),
    );
    at += w1 + w2 + (geo.narrow ? 14 : 16);
  }
  return g("controller", parts, {
    class: "controller",
    "data-id": "K",
    "data-alive": dead ? 0 : 1,
  });
}

/** Producers with what they wait for, consumers with what they see, and the observer's count. */
export function clients(geo, view, { t, name, changed, blocked }) {
  const y = geo.heads.clients;
  const parts = [];
  let at = geo.narrow ? 8 : geo.gutter + 14;
  const room = geo.width - geo.corner;
  const crowded = !geo.narrow && view.clients.length > (room - at > 620 ? 3 : 2);
  for (const c of view.clients.slice(0, geo.narrow ? 2 : 9)) {
    if (parts.length && at > room - 84) break; // no room for its name: the tables have it
    const producer = c.kind === "producer";
    const label = `${c.id}`;
    const seen = geo.part.replicas[c.believes];
    const all = producer
      ? t("client.sent", { n: c.sent ?? view.ledger.sent, a: c.acked ?? view.ledger.acked })
      : seen
        ? t("client.sees", { o: c.position ?? 0, hw: seen.hw, leo: seen.leo })
        : t("client.reads", { o: c.position ?? 0 });
    const short = producer
      ? `${c.acked ?? view.ledger.acked}/${c.sent ?? view.ledger.sent}`
      : `→ ${c.position ?? 0}`;
    const words = crowded
      ? short
      : fit(all, room - at - textWidth(`${label} `, 12.5, true) - 34, 12.5);
    const w = textWidth(`${label} `, 12.5, true) + textWidth(words, 12.5) + 26;
    const waiting = (c.waiting ?? []).slice(
      0,
      Math.max(1, Math.min(5, Math.floor((room - at - w - 6) / 70))),
    );
    parts.push(
      g(
        `client-${c.id}`,
        [
          rect("bg", at, y + 3, w, 24, `client ${producer ? "" : "reader"}`, { rx: 12 }),
          spans(
            "w",
            at + 12,
            y + 19.5,
            [
              [`${label} `, "strong"],
              [words, "quiet"],
            ],
            "field",
            { "font-size": 12.5 },
          ),
          ...waiting.map((wait, i) =>
            waitMark(wait, at + w + 6 + i * 70, y + 4, { t, name, blocked }),
          ),
          title("title", `${label} ${all}`),
          changed.has(`client:${c.id}`) &&
            line("chg", at + 12, y + 28, at + w - 12, y + 28, "changed"),
        ],
        {
          "data-id": String(c.id),
          "data-acked": c.acked ?? view.ledger.acked,
          "data-position": c.position ?? "",
        },
      ),
    );
    at += w + 14 + waiting.length * 70;
  }
  return g("clients", parts);
}

/** What a producer waits for; with acks=all it waits for those the high watermark waits for. */
function waitMark(wait, x, y, { t, name, blocked }) {
  const label = [wait.m].flat().join(" ");
  const ids = wait.acks === -1 ? [...blocked] : [];
  const whom =
    ids.length && !label.includes(",")
      ? `${label}→${ids.map((id) => name(id, true)).join("")}`
      : label;
  const more = ids.length
    ? ` ${t("mark.hw_waits", { b: ids.map((id) => name(id)).join(t("list.comma")) })}`
    : "";
  return g(
    `w-${label}`,
    [
      rect("r", x, y + 1, 66, 20, "waiting", { rx: 4 }),
      icon("i", "hourglass", x + 4, y + 5, 12, "warn"),
      text("t", x + 18, y + 15, fit(whom, 46, 11.5), "mono small"),
      title(
        "title",
        t("client.waits", {
          m: label,
          b: name(wait.to),
          acks: wait.acks === -1 ? "all" : wait.acks,
        }) + more,
      ),
    ],
    { "data-id": `wait:${label}` },
  );
}

/** Offsets above the columns, the folded prefix's name, consumers' places. */
export function ruler(geo, view, { t }) {
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
          x - 8 - textWidth(c.id, 11) > geo.logX - 12 &&
          x > 26 &&
          text("t", x - 8, y + 27, c.id, "mono readsname", { "text-anchor": "end" }),
        title("title", t("ruler.reads", { c: c.id, o: c.position })),
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
