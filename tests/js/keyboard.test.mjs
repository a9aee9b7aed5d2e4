import assert from "node:assert/strict";
import test from "node:test";

import { faultMove } from "../../static/js/core/moves.js";
import { namer } from "../../static/js/i18n/words.js";
import { cellWords } from "../../static/js/scene/cellwords.js";
import { beside, stops } from "../../static/js/scene/stops.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { fixture, room, t } from "./helpers.mjs";

const run = fixture("s20");
const drawn = (n, width = 1000) => {
  const step = run.steps.get(n);
  return { step, ...tanks(step, room(step, width)) };
};

test("a lane's stops are its records, ghosts and marks, each in words and large enough to be hit", () => {
  for (const n of [12, 30, 43, 60])
    for (const width of [360, 1000]) {
      const made = drawn(n, width);
      for (const [id, r] of Object.entries(made.geo.part.replicas)) {
        const list = stops(made, Number(id), { t });
        const has = (what) => list.filter((one) => one.what === what).length;
        assert.equal(
          has("o"),
          r.records.filter((one) => one.o < r.leo).length,
          `step ${n} broker ${id}`,
        );
        assert.equal(has("cut"), r.cut.length);
        assert.deepEqual([has("leo"), has("hw")], [1, 1]);
        assert.equal(has("e"), r.epochs.length);
        assert.equal(new Set(list.map((one) => one.id)).size, list.length);
        for (const one of list) {
          assert.ok(one.label.length > 5 && one.w >= 24 && one.h >= 24, JSON.stringify(one));
          assert.doesNotMatch(JSON.stringify(one), /NaN|null|undefined/);
        }
      }
    }
});

test("what of an unfolded log is not known record by record is walked by its epochs", () => {
  const step = structuredClone(run.steps.get(12));
  for (const r of Object.values(step.view.partitions[0].replicas))
    Object.assign(r, {
      leo: 30_000,
      hw: 29_990,
      records: [],
      runs: [
        [0, 29_700, 0],
        [29_700, 30_000, 1],
      ],
    });
  Object.assign(step.view.partitions[0], { same: 0 });
  const made = { step, ...tanks(step, { ...room(step), unfolded: true }) };
  const runs = stops(made, 2, { t }).filter((one) => one.what === "run");
  assert.deepEqual(
    runs.map((one) => one.label),
    ["Offsets 0 to 29699, epoch 0.", "Offsets 29700 to 29999, epoch 1."],
  );
});

test("up and down lead to the same offset of another log, or as far along", () => {
  const made = drawn(43);
  const [a, b] = [1, 2].map((id) => stops(made, id, { t }));
  const at = (list, id) => list.findIndex((one) => one.id === id);
  assert.equal(a[beside(a, b[at(b, "b2:o2")], 3)].id, "b1:o2");
  assert.equal(a[beside(a, b[at(b, "b2:hw")], 9)].id, "b1:hw");
  assert.equal(at(a, "b1:o4"), -1);
  assert.equal(beside(a, b[at(b, "b2:o4")], 4), 4);
  assert.equal(beside(a, b[at(b, "b2:o4")], 99), a.length - 1);
});

test("a record says where it is, who has it, and whether it was acknowledged", () => {
  const step = run.steps.get(43);
  const [part] = step.view.partitions;
  const env = { t, name: namer(t, step.view.brokers) };
  const record = (o) => part.replicas[2].records.find((r) => r.o === o);
  assert.equal(
    cellWords(part, 2, record(1), false, env),
    "Offset 1, epoch 0, record m1: committed as far as broker B knows. It is on broker A, broker B. Acknowledged to the producer.",
  );
  assert.match(cellWords(part, 2, record(3), false, env), /Only broker B has it\./);
  assert.match(
    cellWords(part, 2, { ...record(3), acked: false, read: true }, true, env),
    /does not know yet.*Not acknowledged\. Read by a consumer\.$/,
  );
});

test("k, r and x make the move that fits what is selected", () => {
  const called = (id) => (id === "1" ? "A" : id === "2" ? "B" : id);
  const moves = (id, message) => ["k", "r", "x"].map((key) => faultMove(key, id, message, called));
  assert.deepEqual(moves("b1"), ["kill A", "restart A", "cut A K"]);
  assert.deepEqual(moves("log:2"), ["kill B", "restart B", "cut B K"]);
  assert.deepEqual(moves("K"), ["kill K", "restart K", null]);
  assert.deepEqual(moves("link:1:2"), [null, "heal A B", "cut A B"]);
  assert.deepEqual(moves("m7", { id: 7, from: 2, to: 1, way: "2->1 Fetch" }), [
    "drop 2->1 Fetch",
    "heal B A",
    "cut B A",
  ]);
  assert.deepEqual(moves("P1"), [null, null, null]);
  assert.deepEqual(moves(null), [null, null, null]);
});
