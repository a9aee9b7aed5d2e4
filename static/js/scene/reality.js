// A recording of real brokers as a view that the stage draws: it has what was read and nothing
// else.  Pure.

/** Which moment of a recording a step of the run stands at: {number, rests}.  Brokers were read
 *  when a move was over; in its middle the moment before it counts. */
export function momentAt(moments, n) {
  const number = Math.max(
    0,
    moments.findLastIndex((one) => one.step <= n),
  );
  return { number, rests: moments[number].step === n };
}

const NONE = { adding: [], removing: [], elr: [], lastKnown: [], recovering: false };

/** The view at a moment; `before` tells marks of brokers that are down now, `model` is the view
 *  of the run at the same place, whose records lend the epochs that old batches do not say. */
export function realView(model, moment, before, lost) {
  const part = model.partitions[0];
  const record = { ...NONE, ...moment.record };
  const known = new Map(
    Object.values(part.replicas).flatMap((one) => one.records.map((r) => [r.id, r.e])),
  );
  const replicas = Object.fromEntries(
    Object.entries(moment.replicas).map(([id, one]) => [
      id,
      replica(Number(id), one, before?.replicas[id], record, known),
    ]),
  );
  return {
    ...model,
    controller: { ...model.controller, waiting: 0 },
    quorum: null, // its logs were read as offsets and epochs, not record by record
    brokers: model.brokers.map(({ id, name }) => ({
      id,
      name,
      alive: moment.replicas[id]?.hw === null ? "down" : "up",
      fenced: false,
      clean: true,
    })),
    partitions: [{ ...part, record, replicas, ...compared(Object.values(replicas)) }],
    links: [],
    messages: [],
    clients: [],
    ledger: { sent: 0, acked: 0, lost },
    beats: [],
  };
}

function replica(id, read, before, record, known) {
  const records = read.records.map(([o, name, e]) => ({
    o,
    id: name,
    e: e ?? known.get(name) ?? 0,
    acked: false,
    read: false,
  }));
  // The mark of a broker that is down cannot be read: it stays where it was.
  const hw = Math.min(read.hw ?? before?.hw ?? 0, read.leo);
  const down = read.hw === null;
  return {
    role: down ? "offline" : id === record.leader ? "leader" : "follower",
    start: read.start,
    leo: read.leo,
    hw,
    hwCheckpoint: hw,
    epochs: read.epochs,
    epochStart: null,
    belief: { leader: record.leader, le: record.le, pe: record.pe },
    runs: [],
    records,
    cut: [],
    fetch: { state: "idle", offset: read.leo, waiting: false },
    remote: {},
    isr: record.isr,
    maximal: [],
    pending: null,
    blocks: [],
    waiting: [],
  };
}

/** Up to where all hold the same, and between which offsets two hold different records. */
function compared(replicas) {
  const logs = replicas.map((one) => new Map(one.records.map((r) => [r.o, r.id])));
  const different = [];
  let same = Math.min(...replicas.map((one) => Math.min(one.hw, one.leo)));
  for (const offset of new Set(logs.flatMap((log) => [...log.keys()]))) {
    const held = new Set(logs.filter((log) => log.has(offset)).map((log) => log.get(offset)));
    if (held.size < 2) continue;
    different.push(offset);
    same = Math.min(same, offset);
  }
  const differ = different.length ? [Math.min(...different), Math.max(...different) + 1] : null;
  return { same, differ };
}
