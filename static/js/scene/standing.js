// Where a broker stands with a partition: in the ISR, catching up, fenced, moving, as pills.  Pure.

/** In the ISR, or on the way in or out, or how far behind: one pill, which changes its form. */
function membership(part, broker, pending, busy, t) {
  const { id } = broker;
  const inIsr = part.record.isr.includes(id);
  if (pending === "expand" && !inIsr)
    return { label: t("pill.joining"), cls: "joining", name: "plusminus" };
  if (pending === "shrink" && inIsr)
    return { label: t("pill.leaving"), cls: "leaving", name: "plusminus" };
  if (inIsr) return { label: "ISR", cls: "isr", name: "tick" };
  if (!part.ar.includes(id)) return { label: t("pill.none"), cls: "out" };
  const lag = part.replicas[id]?.fetch?.lag;
  const behind = lag > 0 && !broker.disk && !busy;
  return { label: behind ? t("pill.behind", { n: lag }) : t("pill.out"), cls: "out" };
}

/** Directories: those that failed, and the one that holds the log or is to hold it. */
function directories(part, broker, t) {
  const dirs = broker.dirs ?? [];
  const { dir: kept, future, leo } = part.replicas[broker.id] ?? {};
  const lost = ({ name }) => ({
    label: t("pill.dir_failed", { d: name }),
    cls: "fenced",
    name: "cross",
    key: `dir-${name}`,
  });
  const failed = dirs.filter((dir) => dir.failed);
  const here = [];
  if (future)
    here.push({
      label: t("pill.future", { a: kept, d: future.dir, n: future.leo, m: leo }),
      cls: "joining",
      name: "plusminus",
      key: "future",
    });
  else if (dirs.some((dir) => dir.name === kept && !dir.failed))
    here.push({ label: kept, cls: "out", key: "dir" });
  return {
    first: failed.filter((dir) => dir.name === kept).map(lost), // what matters most has room
    rest: [...failed.filter((dir) => dir.name !== kept).map(lost), ...here],
  };
}

/** The pills of one broker: [{label, cls, name}], from the record and from what the leader has
 *  pending. */
export function standing(part, broker, t) {
  const { record } = part;
  const { id } = broker;
  if (part.gone && part.p >= 0)
    return [{ label: t(part.replicas[id] ? "pill.left" : "pill.none"), cls: "out" }];
  const leader = part.replicas[record.leader];
  const changing = leader?.pending;
  const pending =
    changing?.who !== undefined && [changing.who].flat().includes(id) ? changing.kind : null;
  const throttled = Object.values(part.replicas).some((r) => r.throttled?.held.includes(id));
  const busy = throttled || (broker.dirs ?? []).some((dir) => dir.failed);
  const { first, rest } = directories(part, broker, t);
  const member = {
    ...membership(part, broker, pending, busy, t),
    member: true,
    // While a change is pending, whom the leader counts is marked.
    counts: Boolean(pending) && (leader.maximal ?? []).includes(id),
  };
  return [
    ...first,
    member,
    ...rest,
    record.elr?.includes(id) && { label: "ELR", cls: "elr" },
    broker.fenced &&
      broker.alive === "up" && { label: t("pill.fenced"), cls: "fenced", name: "lock" },
    broker.disk && { label: t("pill.slow_disk"), cls: "slow" },
    throttled && { label: t("pill.throttled"), cls: "throttled" },
    record.adding?.includes(id) && { label: t("pill.adding"), cls: "out", key: "adding" },
    record.removing?.includes(id) && { label: t("pill.removing"), cls: "out", key: "removing" },
  ].filter(Boolean);
}

/** Does this replica's belief contradict the controller's record? */
export function isStale(replica, record) {
  const belief = replica?.belief;
  return (
    Boolean(belief) &&
    belief.le >= 0 &&
    replica.role !== "offline" &&
    (belief.leader !== record.leader || belief.le !== record.le)
  );
}
