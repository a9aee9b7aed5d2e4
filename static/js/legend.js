// A small cluster that shows every sign of the stage at once: what the legend is drawn from.

const record = (o, e, id, more = {}) => ({ o, e, id, acked: false, read: false, ...more });
const replica = (more) => ({
  role: "follower", start: 0, hwCheckpoint: 2, flushed: 0, epochStart: null, belief: { leader: 2, le: 1, pe: 3 }, cut: [], remote: {}, isr: [], maximal: [],
  pending: null, blocks: [], waiting: [], fetch: { state: "fetching", offset: 0, waiting: false }, epochs: [[0, 0], [1, 2]], ...more,
});
const broker = (id, more = {}) => ({ id, name: String(id), rack: "", alive: "up", fenced: false, brokerEpoch: 1, clean: true, session: 9000, ...more });
const old = [record(0, 0, "m0", { acked: true, read: true }), record(1, 0, "m1", { acked: true })];

export const STEP = {
  n: 1, t: 0, move: "", cues: [], broken: [], moment: 0, say: [], why: [],
  view: {
    t: 0, fetching: "manual", mode: "kraft", profile: "K39",
    controller: { alive: true, epoch: 1, waiting: 0 },
    partitions: [{
      p: 0, name: "orders-0", ar: [1, 2, 3], minIsr: 1, same: 2, differ: [2, 3],
      record: { leader: 2, le: 1, pe: 3, isr: [2, 3], elr: [], lastKnown: [], recovering: false, adding: [], removing: [] },
      replicas: {
        1: replica({ role: "leader", leo: 3, hw: 2, belief: { leader: 1, le: 0, pe: 1 }, epochs: [[0, 0]], runs: [[0, 3, 0]], records: [...old, record(2, 0, "m2")], isr: [1] }),
        2: replica({ role: "leader", leo: 4, hw: 3, runs: [[0, 2, 0], [2, 4, 1]], records: [...old, record(2, 1, "m3", { acked: true }), record(3, 1, "m4")], isr: [2, 3], maximal: [2, 3], blocks: [3], epochStart: 2, remote: { 3: { leo: 3, start: 0, caughtUp: 0, inSync: true, eligible: true } } }),
        3: replica({ leo: 3, hw: 2, runs: [[0, 2, 0], [2, 3, 1]], records: [...old, record(2, 1, "m3", { acked: true })], cut: [record(3, 0, "m9")] }),
      },
    }],
    brokers: [broker(1), broker(2), broker(3)],
    links: [], messages: [{ id: 1, kind: "Fetch", from: 3, to: 2, reply: false, sent: 0, due: null, held: true, deliverable: true, fields: { offset: 3 } }],
    clients: [{ id: "P1", kind: "producer", believes: 2, waiting: [{ m: "m4", to: 2, acks: -1 }], queued: 0, sent: 4, acked: 3 }],
    ledger: { sent: 4, acked: 3, committed: 3, lost: [], lost1: [], seen: 1 },
  },
};

/** Each sign, where on the picture it stands, and on which side of it its number goes. */
export const SIGNS = [
  ["cell", '[data-sign="b1:o0"]', "top"], ["open", '[data-sign="b2:o3"] .cell', "right"], ["acked", '[data-sign="b3:o1"] .acked', "top"], ["ghost", '[data-sign="b3:cut3"]', "right"],
  ["hw", '[data-sign="b1:hw"] .hwpill', "left"], ["leo", '[data-sign="b1:leo"] text', "right"], ["memory", '[data-sign="b2:mem3"]', "right"], ["waits", '[data-sign="b2:hw"] .hwpill', "left"],
  ["stale", '[data-sign="b1:belief"] text', "bottom"], ["crown", ".ic.crown:not(.self)", "top"], ["differ", '[data-sign="differ"] text', "right"], ["epochs", '[data-sign="b2:e1"]', "right"],
  ["notch", '[data-sign="notch:1"] text', "right"], ["message", '[data-sign="m1"]', "top"], ["isr", '.lanegroup .pillbox', "right"],
];
