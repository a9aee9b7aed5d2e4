// Where a broker stands with a partition: in the ISR, catching up, fenced, moving, as pills.  Pure.

/** The pills of one broker: [{label, cls, name}], from the record and from what the leader has pending. */
export function standing(part, broker, t) {
  const { record } = part;
  const id = broker.id;
  if (part.gone && part.p >= 0)
    return [{ label: t(part.replicas[id] ? "pill.left" : "pill.none"), cls: "out" }];
  const leader = part.replicas[record.leader];
  const pending =
    leader?.pending?.who !== undefined && [leader.pending.who].flat().includes(id)
      ? leader.pending.kind
      : null;
  const pills = [];
  const inIsr = record.isr.includes(id);
  // Membership is one pill that changes its form; while a change is pending, whom the leader counts is marked.
  const member = (pill) =>
    pills.push({
      ...pill,
      member: true,
      counts: Boolean(pending) && (leader.maximal ?? []).includes(id),
    });
  const throttled = Object.values(part.replicas).some((r) => r.throttled?.held.includes(id));
  const dirs = broker.dirs ?? [];
  const lostDir = dirs.some((dir) => dir.failed);
  if (pending === "expand" && !inIsr)
    member({ label: t("pill.joining"), cls: "joining", name: "plusminus" });
  else if (pending === "shrink" && inIsr)
    member({ label: t("pill.leaving"), cls: "leaving", name: "plusminus" });
  else if (inIsr) member({ label: "ISR", cls: "isr", name: "tick" });
  else if (part.ar.includes(id)) {
    const lag = part.replicas[id]?.fetch?.lag;
    member({
      label:
        lag > 0 && !broker.disk && !throttled && !lostDir
          ? t("pill.behind", { n: lag })
          : t("pill.out"),
      cls: "out",
    });
  } else member({ label: t("pill.none"), cls: "out" });
  const kept = part.replicas[id]?.dir;
  for (const { name } of dirs.filter((dir) => dir.failed)) {
    const lost = {
      label: t("pill.dir_failed", { d: name }),
      cls: "fenced",
      name: "cross",
      key: `dir-${name}`,
    };
    if (name === kept) pills.unshift(lost);
    else pills.push(lost); // what matters most has room
  }
  const { future, leo } = part.replicas[id] ?? {};
  if (future)
    pills.push({
      label: t("pill.future", { a: kept, d: future.dir, n: future.leo, m: leo }),
      cls: "joining",
      name: "plusminus",
      key: "future",
    });
  else if (dirs.some((dir) => dir.name === kept && !dir.failed))
    pills.push({ label: kept, cls: "out", key: "dir" });
  if (record.elr?.includes(id)) pills.push({ label: "ELR", cls: "elr" });
  if (broker.fenced && broker.alive === "up")
    pills.push({ label: t("pill.fenced"), cls: "fenced", name: "lock" });
  if (broker.disk) pills.push({ label: t("pill.slow_disk"), cls: "slow" });
  if (throttled) pills.push({ label: t("pill.throttled"), cls: "throttled" });
  if (record.adding?.includes(id))
    pills.push({ label: t("pill.adding"), cls: "out", key: "adding" });
  if (record.removing?.includes(id))
    pills.push({ label: t("pill.removing"), cls: "out", key: "removing" });
  return pills;
}
