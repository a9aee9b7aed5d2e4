// What was read of real brokers, as a view for the stage's drawers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { momentAt, realView } from "../../static/js/scene/reality.js";

const MOMENTS = [{ step: 0 }, { step: 3 }, { step: 3 }, { step: 9 }];

test("a step in the middle of a move shows the moment before it", () => {
  const found = [0, 1, 3, 4, 9].map((n) => momentAt(MOMENTS, n));
  assert.deepEqual(
    found.map((one) => [one.number, one.rests]),
    [
      [0, true],
      [0, false],
      [2, true], // a move that did nothing rests where the one before it does
      [2, false],
      [3, true],
    ],
  );
});

const MODEL = {
  controller: { alive: true, waiting: 2 },
  brokers: [
    { id: 1, name: "A", alive: "up", fenced: true, session: 4 },
    { id: 2, name: "B", alive: "up" },
  ],
  partitions: [
    {
      p: 0,
      minIsr: 2,
      record: { leader: 1 },
      replicas: { 1: { records: [{ o: 0, id: "m0", e: 3 }] }, 2: { records: [] } },
    },
  ],
  messages: [{}],
  clients: [{}],
  links: [{}],
};

const MOMENT = {
  record: { leader: 2, le: 5, pe: 7, isr: [2] },
  replicas: {
    1: {
      leo: 2,
      hw: null,
      start: 0,
      epochs: [],
      records: [
        [0, "m0", null],
        [1, "x", 4],
      ],
    },
    2: {
      leo: 2,
      hw: 1,
      start: 0,
      epochs: [[0, 0]],
      records: [
        [0, "m0", 0],
        [1, "y", 5],
      ],
    },
  },
};

test("only what was read is in the view", () => {
  const model = { ...MODEL, quorum: { voters: [] } };
  const view = realView(model, MOMENT, { replicas: { 1: { hw: 2 } } }, ["z"]);
  assert.deepEqual([view.messages, view.clients, view.links], [[], [], []]);
  assert.equal(view.quorum, null);
  assert.deepEqual(
    view.brokers.map(({ alive, fenced }) => [alive, fenced]),
    [
      ["down", false],
      ["up", false],
    ],
  );
  const [part] = view.partitions;
  assert.equal(part.replicas[1].hw, 2, "the mark that was read last");
  assert.equal(part.replicas[1].records[0].e, 3, "no epoch was read: the run lends it");
  assert.equal(part.replicas[1].records[1].e, 4);
  assert.deepEqual([part.replicas[1].role, part.replicas[2].role], ["offline", "leader"]);
  assert.deepEqual([part.same, part.differ], [1, [1, 2]]);
  assert.deepEqual(view.ledger.lost, ["z"]);
  assert.equal(part.record.le, 5);
});
