import assert from "node:assert/strict";
import test from "node:test";

import { anchor, densityFor, detailFor, foldAt, layout } from "../../static/js/scene/layout.js";
import { fit, pack, textWidth } from "../../static/js/scene/node.js";
import { picture } from "../../static/js/scene/picture.js";
import { fixture, room } from "./helpers.mjs";

const run = fixture("s20");
const view = run.steps.get(20).view;

test("density follows the number of brokers", () => {
  assert.deepEqual([2, 4, 5, 6, 7, 12, 13, 40].map(densityFor), [
    "comfortable",
    "comfortable",
    "cosy",
    "cosy",
    "compact",
    "compact",
    "dense",
    "dense",
  ]);
});

test("detail follows the pitch", () => {
  assert.deepEqual([40, 26, 25, 14, 13, 4, 3].map(detailFor), [
    "full",
    "full",
    "number",
    "number",
    "rect",
    "rect",
    "run",
  ]);
});

test("nothing is folded while everything fits, or when asked not to", () => {
  assert.equal(foldAt({ base: 0, end: 20, same: 20, capacity: 20 }), 0);
  assert.equal(foldAt({ base: 0, end: 90, same: 90, capacity: 20, unfolded: true }), 0);
});

test("folding leaves two equal columns and moves in jumps", () => {
  const at = (end) => foldAt({ base: 0, end, same: end, capacity: 20 });
  const places = new Set();
  for (let end = 21; end < 80; end += 1) {
    const fold = at(end);
    assert.ok(fold <= end - 2 && end - fold <= 20, `end ${end} fold ${fold}`);
    places.add(fold);
  }
  assert.ok(places.size < 16, "columns do not move with every record");
  assert.equal(
    foldAt({ base: 0, end: 50, same: 3, capacity: 20 }),
    0,
    "what differs is never folded",
  );
});

test("offsets share one axis: equal pitch, growing, inside the log area", () => {
  for (const width of [320, 390, 700, 1000, 1900]) {
    const geo = layout(view, { width });
    for (let o = geo.base; o < geo.end; o += 1) assert.ok(geo.x(o + 1) > geo.x(o));
    assert.ok(geo.x(geo.end) <= width, `width ${width}`);
  }
});

test("lanes keep the order of the brokers, whoever leads", () => {
  const before = layout(run.steps.get(0).view, { width: 1000 });
  const after = layout(view, { width: 1000 });
  assert.deepEqual([...before.lanes.keys()], [...after.lanes.keys()]);
  for (const id of before.lanes.keys()) assert.equal(before.lanes.get(id).y, after.lanes.get(id).y);
});

test("a narrow stage has no gutter and stacks card above log", () => {
  const geo = layout(view, { width: 390 });
  assert.equal(geo.gutter, 0);
  for (const lane of geo.lanes.values()) assert.ok(lane.log > lane.y);
  assert.ok(anchor(geo, 1)[0] < 390);
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
    walk(picture(step, room(step)).logs);
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
        const made = picture(step, { ...room(step, 1200), unfolded });
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
