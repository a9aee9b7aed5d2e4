import assert from "node:assert/strict";
import test from "node:test";

import { recordRows, replicaRow } from "../../static/js/panels/tablerows.js";
import { field, HEAD, nodesOf, ROW, spacetime, windowOf } from "../../static/js/scene/spacetime.js";
import { arrows, FILTERS, transitive, wantedKind } from "../../static/js/scene/ways.js";
import { fixture, room, t } from "./helpers.mjs";

const run = fixture("s20");
const steps = [...run.steps.values()].sort((a, b) => a.n - b.n);
const draw = (some, more = {}) =>
  spacetime(some, {
    nodes: nodesOf(some[0].view),
    total: run.facts.total,
    n: 3,
    ...room(some[0]),
    width: 900,
    ...more,
  });

test("every message is one arrow, from where it was sent to where it arrived", () => {
  const ways = arrows(steps);
  const ids = new Set(steps.flatMap((step) => step.view.messages.map((m) => m.id)));
  assert.equal(ways.length, ids.size);
  for (const way of ways.filter((w) => w.to !== null)) {
    assert.ok(way.to > way.from, `message ${way.m.id}`);
    const end = run.steps.get(way.to);
    assert.equal(way.lost, end.arrived !== way.m.id);
    if (!way.lost) assert.equal(String(end.at), String(way.m.to));
  }
  assert.ok(ways.some((w) => w.lost) || ways.every((w) => w.to !== null || w.from !== null));
});

test("a window knows arrows that began before it", () => {
  const inside = arrows(steps.slice(10, 20));
  const before = steps[10].view.messages.map((m) => m.id);
  for (const way of inside) assert.equal(way.from === null, before.includes(way.m.id));
});

test("beyond four hundred steps only what is seen is drawn", () => {
  assert.deepEqual(windowOf(0, 600, 400), [0, 400]);
  const [first, last] = windowOf(20_000, 600, 5000);
  assert.ok(first > 0 && last - first < 60);
  const at = field(["K", "1"], { width: 600, total: 5000 });
  assert.ok(at.y(first) <= 20_000 && at.y(last) >= 20_600);
  assert.equal(at.y(7), HEAD + 7 * ROW + ROW / 2);
});

test("keys are unique, and lines of a crashed broker have a gap", () => {
  const made = draw(steps);
  assert.equal(new Set(made.nodes.map((n) => n.k)).size, made.nodes.length);
  assert.ok(made.nodes.some((n) => n.a.class === "stlife gone"));
  assert.ok(
    made.nodes.some((n) => /leads e1/.test(n.a.class)),
    "a leader's line has its epoch's colour",
  );
});

test("kinds are chosen, each message is of one kind", () => {
  const all = steps.flatMap((step) => step.view.messages);
  for (const m of all)
    assert.equal(FILTERS.slice(1).filter((filter) => wantedKind(m, filter)).length, 1, m.kind);
});

test("through a hidden node a dashed arrow still says what led to what", () => {
  const ways = [
    { m: { id: 1, from: "P1", to: 1 }, from: 1, to: 2, lost: false },
    { m: { id: 2, from: 1, to: 2 }, from: 3, to: 4, lost: false },
    { m: { id: 3, from: 1, to: 3 }, from: 2, to: 5, lost: true },
  ];
  assert.deepEqual(transitive(ways, new Set(["P1", "2", "3"])), [
    { a: "P1", b: 2, from: 1, to: 4, id: "1-2" },
  ]);
  assert.deepEqual(transitive(ways, new Set(["P1", "1", "2"])), []);
});

test("the tables say what the lanes show", () => {
  for (const step of steps) {
    const { name } = room(step);
    const part = step.view.partitions[0];
    for (const broker of step.view.brokers) {
      const row = replicaRow(part, broker, { t, name }).map(String);
      const r = part.replicas[broker.id];
      assert.deepEqual([row[3], row[4], row[5]], [r.start, r.leo, r.hw].map(String));
      for (const [e, o] of r.epochs) assert.ok(row[6].includes(`${e}→${o}`));
    }
    const { rows } = recordRows(part, { t, name });
    assert.equal(rows.length, Math.max(...Object.values(part.replicas).map((r) => r.leo)));
  }
});
