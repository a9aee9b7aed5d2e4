// What stands in the tables: a row for a replica, a row for an offset.  Pure.

import { standing } from "../scene/standing.js";

const MOST_OFFSETS = 200;

/** One row for a replica: everything its lane shows. */
export function replicaRow(part, broker, { t, name }) {
  const r = part.replicas[broker.id];
  const who = name(broker.id);
  if (!r) return [who, t(`alive.${broker.alive}`), t("pill.none"), "", "", "", "", "", "", ""];
  const belief =
    r.belief.le >= 0
      ? t("card.believes", {
          leader: r.belief.leader >= 0 ? name(r.belief.leader, true) : t("card.nobody"),
          e: r.belief.le,
        })
      : t("card.knows_nothing");
  const remote = Object.entries(r.remote)
    .map(([id, m]) => `${name(id, true)}: ${m.leo >= 0 ? m.leo : "?"}`)
    .join(t("list.comma"));
  return [
    who,
    broker.alive === "up" ? t(`role.${r.role}`) : t(`alive.${broker.alive}`),
    standing(part, broker, t)
      .map((p) => p.label)
      .join(t("list.comma")),
    r.local === undefined ? r.start : t("table.local", { a: r.start, o: r.local }),
    r.leo,
    r.hw,
    r.epochs.map(([e, o]) => `${e}→${o}`).join(" "),
    r.role === "offline" ? "" : belief,
    remote,
    `${r.flushed} / ${r.hwCheckpoint} / ${r.recovery ?? 0}`,
  ];
}

/** Offsets down, brokers across: the epoch of the record that stands there, with its signs. */
export function recordRows(part, { t, name, width = MOST_OFFSETS }) {
  const ids = Object.keys(part.replicas);
  if (!ids.length) return { heads: [], rows: [] };
  const end = Math.max(0, ...ids.map((id) => part.replicas[id].leo));
  const first = Math.max(Math.min(...ids.map((id) => part.replicas[id].start)), end - width);
  const rows = [];
  for (let o = end - 1; o >= first; o -= 1) {
    const differs = part.differ && o >= part.differ[0] && o < part.differ[1];
    rows.push([
      `${o}${differs ? ` ${t("table.differs")}` : ""}`,
      ...ids.map((id) => cell(part.replicas[id], o, t)),
    ]);
  }
  return { heads: [t("table.offset"), ...ids.map((id) => name(Number(id)))], rows };
}

function cell(r, o, t) {
  const ghost = r.cut.find((one) => one.o === o);
  if (o >= r.leo || o < r.start)
    return ghost ? t(ghost.acked ? "table.cut_acked" : "table.cut", { m: ghost.id }) : "–";
  const record = r.records.find((one) => one.o === o);
  const epoch = record?.e ?? r.runs.find(([from, to]) => o >= from && o < to)?.[2];
  const signs = [
    t("msg.epoch", { e: epoch }),
    record?.id,
    o >= r.hw && t("table.open"),
    o < (r.local ?? 0) && t("table.remote"),
    record?.acked && t("ledger.acked"),
    record?.read && t("ledger.seen"),
  ];
  return signs.filter(Boolean).join(" · ");
}
