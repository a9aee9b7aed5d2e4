// What stands on the stage, in words: a record, a message, a link, a replica.  Pure.

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

/** What a message says under its name: the two or three fields that matter.
 * @param {(id: number, short?: boolean) => string} [name] */
export function essence(m, t, name = String) {
  const f = m.fields ?? {};
  const bits = [];
  const offset = f.offset ?? f.fetchOffset;
  if (m.error) return m.error;
  if (offset !== undefined && offset >= 0 && (!m.reply || f.hw === undefined))
    bits.push(t("msg.offset", { o: offset }));
  if (f.isr)
    bits.push(
      `ISR [${[f.isr]
        .flat()
        .map((b) => name(b, true))
        .join(", ")}]`,
    );
  if (f.diverging) bits.push(t("msg.diverges"));
  if (m.reply && f.hw !== undefined) bits.push(`HW ${f.hw}`);
  const epoch = f.epoch ?? f.le ?? f.leaderEpoch;
  if (epoch !== undefined && bits.length < 2 && !m.records?.length)
    bits.push(t("msg.epoch", { e: epoch }));
  return bits.join(" · ");
}

/** Everything that is odd about a link, the gravest first. */
export function linkWords(l, t, name) {
  const words = [];
  if (l.cut === "both") words.push(t("link.cut"));
  else if (l.cut && l.cut !== "none") {
    const [from, to] = l.cut === "a>b" ? [l.a, l.b] : [l.b, l.a];
    words.push(`${name(from, true)}→${name(to, true)} ${t("link.cut")}`);
  }
  if (l.held) words.push(t("link.held"));
  if (l.loss) words.push(t("link.loss", { n: Math.round(l.loss * 100) }));
  if (l.delay && l.delay !== 0)
    words.push(t("link.slow", { n: Array.isArray(l.delay) ? l.delay.join("–") : l.delay }));
  return words.join(" · ");
}

/** A lane in words, for those who do not see it. */
export function sentence(geo, broker, { t, name }) {
  const r = geo.part.replicas[broker.id];
  const who = name(broker.id);
  const state = broker.alive === "up" ? t(`role.${r?.role ?? "none"}`) : t(`alive.${broker.alive}`);
  if (!r) return t("lane.none", { who, state });
  const member = t(geo.part.record.isr.includes(broker.id) ? "lane.in" : "lane.out");
  const list = (r.epochs ?? []).map(([e, o]) => t("lane.epoch", { e, o })).join(t("list.comma"));
  const { leader, le } = r.belief;
  const belief =
    le >= 0
      ? t("card.believes", { leader: leader >= 0 ? name(leader, true) : t("card.nobody"), e: le })
      : t("card.knows_nothing");
  return t("lane.words", {
    who,
    state,
    member,
    a: r.start ?? 0,
    b: r.leo,
    hw: r.hw,
    epochs: list || "–",
    belief,
  });
}
