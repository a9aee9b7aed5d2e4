// Many partitions at once: partition by broker, each replica a square.  Pure.

/** From how many on the stage begins with the matrix: lanes show one partition. */
const MANY = { brokers: 40, partitions: 8 };
export const isLarge = (view) =>
  view.brokers.length > MANY.brokers || view.partitions.length > MANY.partitions;

/** What one square says: {role, member, behind, off, lost} or null where there is no replica. */
function square(part, broker) {
  const r = part.replicas[broker.id];
  if (!r) return null;
  const { record } = part;
  const leader = part.replicas[record.leader];
  const end = leader ? leader.leo : Math.max(...Object.values(part.replicas).map((one) => one.leo));
  return {
    role: r.role,
    recorded: record.leader === broker.id,
    member: record.isr.includes(broker.id),
    eligible: record.elr?.includes(broker.id) ?? false,
    off: broker.alive !== "up" && broker.alive !== "shutting",
    behind: Math.max(0, end - r.leo),
    hw: r.hw,
    leo: r.leo,
  };
}

/** How dark the lag is shaded: 0 none, then ever more of it. */
export const shade = (behind) => (behind <= 0 ? 0 : behind < 3 ? 1 : behind < 20 ? 2 : 3);

/** The state of a partition in one word: whether it has a leader and can be written to. */
function health(part) {
  const { record } = part;
  if (record.leader < 0) return "leaderless";
  if (record.isr.length < part.minIsr) return "under_min";
  return record.isr.length < part.ar.length ? "under" : "full";
}

/** Rows [part, health, squares] in the order of the partitions. */
export const rows = (view) =>
  view.partitions.map((part) => ({
    part,
    health: health(part),
    squares: view.brokers.map((b) => square(part, b)),
  }));
