import assert from "node:assert/strict";
import test from "node:test";

import { fit, pack, textWidth } from "../../static/js/scene/node.js";
import { foldAt } from "../../static/js/scene/tanks/layout.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { fixture, room } from "./helpers.mjs";

const run = fixture("s20");

test("nothing is folded while everything fits, or when asked not to", () => {
  assert.equal(foldAt({ base: 0, end: 20, same: 20, capacity: 20 }), 0);
  assert.equal(foldAt({ base: 0, end: 90, same: 90, capacity: 20, unfolded: true }), 0);
  assert.equal(foldAt({ base: 0, end: 900, same: 9, capacity: 20, unfolded: true }), 500);
});

test("folding leaves two equal cells and moves in jumps", () => {
  const at = (end) => foldAt({ base: 0, end, same: end, capacity: 20 });
  const places = new Set();
  for (let end = 21; end < 80; end += 1) {
    const fold = at(end);
    assert.ok(fold <= end - 2 && end - fold <= 20, `end ${end} fold ${fold}`);
    places.add(fold);
  }
  assert.ok(places.size < 16, "cells do not move with every record");
  assert.equal(foldAt({ base: 0, end: 22, same: 12, capacity: 20 }), 10, "of what is equal first");
  assert.equal(foldAt({ base: 0, end: 50, same: 3, capacity: 20 }), 30, "no cell gets too small");
});

test("packing never overlaps and keeps the order", () => {
  const placed = pack(
    [
      { x: 5, width: 30 },
      { x: 0, width: 20 },
      { x: 90, width: 10 },
    ],
    4,
    0,
  );
  for (let i = 1; i < placed.length; i += 1)
    assert.ok(placed[i].at >= placed[i - 1].at + placed[i - 1].width);
  assert.equal(placed.at(-1).at, 90);
});

test("a text that is too long ends in an ellipsis and fits", () => {
  const short = fit("believes leader 1, epoch 0", 80);
  assert.ok(short.endsWith("…") && textWidth(short) <= 80);
  assert.equal(fit("ok", 80), "ok");
});

test("the picture tells what the view says: ends, marks, epochs, records", () => {
  for (const step of run.steps.values()) {
    const found = new Map();
    const walk = (nodes) =>
      nodes.forEach((n) => {
        if (n.a["data-id"]) found.set(n.a["data-id"], n);
        if (n.c) walk(n.c);
      });
    walk(tanks(step, room(step)).logs);
    for (const [id, r] of Object.entries(step.view.partitions[0].replicas)) {
      assert.equal(found.get(`b${id}:leo`).a["data-value"], r.leo);
      assert.equal(found.get(`b${id}:hw`).a["data-value"], r.hw);
      for (const [e, start] of r.epochs)
        assert.equal(found.get(`b${id}:e${e}`).a["data-start"], start);
      for (const record of r.records) {
        const cell = found.get(`b${id}:o${record.o}`).a;
        assert.deepEqual(
          [cell["data-epoch"], cell["data-open"], cell["data-acked"]],
          [record.e, record.o >= r.hw ? 1 : 0, record.acked ? 1 : 0],
        );
      }
      for (const cut of r.cut) assert.ok(found.has(`b${id}:cut${cut.o}`));
    }
    assert.equal(
      found.get("rec:isr").a["data-value"],
      step.view.partitions[0].record.isr.join(","),
    );
  }
});

test("many brokers and long logs stay within the budget of nodes", () => {
  const count = (nodes) => nodes.reduce((sum, n) => sum + 1 + (n.c ? count(n.c) : 0), 0);
  for (const brokers of [3, 9, 30])
    for (const leo of [400, 30_000]) {
      const step = grown(brokers, leo);
      for (const unfolded of [false, true]) {
        const made = tanks(step, { ...room(step, 1200), unfolded });
        assert.ok(count(made.logs) + count(made.over) < 5000, `${brokers} brokers`);
      }
    }
});

/** A step with so many brokers, each with a log of so many records, the last 64 of them told. */
function grown(brokers, leo) {
  const step = structuredClone(run.steps.get(3));
  const part = step.view.partitions[0];
  const [model] = Object.values(part.replicas);
  const ids = Array.from({ length: brokers }, (_, i) => i + 1);
  step.view.brokers = ids.map((id) => ({ ...step.view.brokers[0], id, name: String(id) }));
  part.ar = ids;
  part.same = leo - 10;
  part.differ = [leo - 5, leo];
  part.replicas = Object.fromEntries(
    ids.map((id) => [
      id,
      {
        ...model,
        leo,
        hw: leo - 3,
        runs: [[0, leo, 0]],
        cut: [],
        records: Array.from({ length: 64 }, (_, i) => ({
          o: leo - 64 + i,
          e: 0,
          id: `m${leo - 64 + i}`,
          acked: true,
          read: false,
          n: 1,
        })),
      },
    ]),
  );
  step.changed = new Set();
  return step;
}
