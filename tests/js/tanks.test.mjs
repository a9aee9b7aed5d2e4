import assert from "node:assert/strict";
import { test } from "node:test";

import { nodes } from "../../static/js/scene/spots.js";
import { layout } from "../../static/js/scene/tanks/layout.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { rows } from "../../static/js/scene/tanks/sky.js";
import { transition } from "../../static/js/scene/transition.js";
import { fixture, room, t } from "./helpers.mjs";

const WIDTHS = [360, 390, 768, 1040, 1500];
const RUNS = ["s01", "s20", "s23"].map(fixture);
const drawn = (step, width = 1000) => tanks(step, { ...room(step, width), width, height: 520 });
const found = (made, id) => [...nodes(made.logs)].find((one) => one.a["data-id"] === id);

test("offset is height, the same in all tanks", () => {
  for (const run of RUNS)
    for (const step of run.steps.values()) {
      const geo = layout(step.view, { width: 1000, height: 520 });
      const [first, ...others] = geo.lanes.values();
      for (const other of others)
        for (let o = geo.base; o <= geo.end; o += 1) assert.equal(geo.y(o, other), geo.y(o, first));
      for (let o = geo.base; o < geo.end; o += 1)
        assert.ok(geo.y(o + 1, first) < geo.y(o, first), "a later record lies higher");
    }
});

test("marks, water and cells are those of the view", () => {
  for (const run of RUNS)
    for (const step of run.steps.values()) {
      const made = drawn(step);
      const { part } = made.geo;
      for (const [id, replica] of Object.entries(part.replicas)) {
        const lane = made.geo.lanes.get(Number(id));
        assert.equal(found(made, `b${id}:leo`).a["data-value"], replica.leo);
        const flag = found(made, `b${id}:hw`);
        assert.equal(flag.a["data-value"], replica.hw);
        assert.equal(flag.c.find((one) => one.k === "bar").a.y1, made.geo.y(replica.hw, lane));
        const valve = found(made, `b${id}:isr`);
        const never = part.record.isr.includes(Number(id)) ? "closed" : "open";
        assert.notEqual(valve.a["data-state"], never);
        for (const r of replica.records) {
          const cell = found(made, `b${id}:o${r.o}`);
          assert.equal(cell.c.find((one) => one.k === "n").x, r.id);
          assert.equal(cell.a["data-open"], r.o >= replica.hw ? 1 : 0);
        }
      }
    }
});

test("keys are unique among brothers at every width", () => {
  const unique = (list, where) => {
    const keys = list.map((one) => one.k);
    assert.equal(new Set(keys).size, keys.length, `${where}: ${keys}`);
    for (const one of list) if (one.c) unique(one.c, `${where}/${one.k}`);
  };
  for (const run of RUNS)
    for (const step of run.steps.values())
      for (const width of WIDTHS) {
        const made = drawn(step, width);
        unique(made.logs, `step ${step.n} at ${width}`);
        unique(made.over, `step ${step.n} at ${width}`);
      }
});

test("what is on its way covers nothing else that is", () => {
  for (const run of RUNS)
    for (const step of run.steps.values()) {
      const { over, geo } = drawn(step);
      const slips = over.filter((one) => one.m?.at);
      for (const { m } of slips) assert.ok(m.at[1] + m.h / 2 <= geo.top, "it hangs over the tanks");
      for (const [i, a] of slips.entries())
        for (const b of slips.slice(i + 1)) {
          const apart =
            Math.abs(a.m.at[0] - b.m.at[0]) >= (a.m.w + b.m.w) / 2 ||
            Math.abs(a.m.at[1] - b.m.at[1]) >= a.m.h;
          assert.ok(apart, `step ${step.n}: ${a.k} and ${b.k}`);
        }
    }
});

test("what was acknowledged and is gone has its empty place on the leader", () => {
  const step = RUNS[1].steps.get(56);
  const made = drawn(step);
  for (const id of ["m3", "m4"]) assert.ok(step.view.ledger.lost.includes(id));
  assert.ok(found(made, "b1:gone3") && found(made, "b1:gone4"));
  assert.equal(found(drawn(RUNS[1].steps.get(30)), "b1:gone3"), undefined);
});

test("a transition begins and ends exactly as the pictures of its steps", () => {
  const run = RUNS[1];
  for (let n = 0; n < run.facts.total; n += 1) {
    const [a, b] = [n, n + 1].map((at) => ({
      step: run.steps.get(at),
      ...drawn(run.steps.get(at)),
    }));
    const between = transition(a, b, { t });
    assert.deepEqual(between(0).logs, a.logs);
    assert.deepEqual(between(1).over, b.over);
    between(0.5);
  }
});

test("an end that moved leaves a trace of where it was, and only then", () => {
  let moved = 0;
  let back = 0;
  for (const run of RUNS)
    for (const step of run.steps.values()) {
      const made = drawn(step);
      const { part } = made.geo;
      for (const [id, replica] of Object.entries(part.replicas)) {
        const old = step.was?.[part.p]?.[id]?.leo;
        const trace = found(made, `b${id}:leowas`);
        if (old === undefined || old === replica.leo) {
          assert.equal(trace, undefined);
          continue;
        }
        const lane = made.geo.lanes.get(Number(id));
        const y = (o) => made.geo.y(o, lane) - 1;
        assert.equal(trace.a["data-value"], old);
        const [, from, to] = trace.c[0].a.d.match(/^M\S+ (\S+)H\S+V(\S+)$/).map(Number);
        assert.deepEqual([from, to], [y(old), y(replica.leo)]);
        moved += 1;
        if (old > replica.leo) back += 1;
      }
    }
  assert.ok(moved > 10 && back > 0, "the runs have both");
});

test("what was deleted at the start of a log is floor: no name, no water, and it says so", () => {
  const step = structuredClone(RUNS[1].steps.get(30));
  const [part] = step.view.partitions;
  const starting = (starts) => {
    Object.values(part.replicas).forEach((replica, i) => (replica.start = starts[i]));
    return drawn(step);
  };
  const floorOf = (made, id) => found(made, `b${id}:leo`) && made.geo.lanes.get(id).floor;
  const sunk = (made) =>
    [...nodes(made.logs)].filter((one) => one.k === "start").map((one) => one.c[0].a);
  const named = (made, id) =>
    found(made, id)
      .c.filter((one) => one.k === "n")
      .map((one) => one.x);

  assert.equal(sunk(starting([0, 0, 0])).length, 0);
  const one = starting([2, 0, 0]);
  const [zone, ...others] = sunk(one);
  assert.equal(others.length, 0, "the others have all of theirs");
  assert.equal(zone.y, one.geo.y(2, one.geo.lanes.get(1)));
  assert.equal(found(one, "b1:o1"), undefined, "nobody can read it");
  assert.deepEqual([named(one, "b1:o2"), named(one, "b2:o1")], [["m2"], ["m1"]]);
  const all = starting([2, 2, 2]);
  assert.equal(all.geo.base, 2);
  assert.equal(sunk(all).length, Object.keys(part.replicas).length);
  for (const { y, height } of sunk(all))
    assert.ok(height > 10 && Math.abs(y + height - floorOf(all, 1)) < 2, "one thin layer");
  for (const { a } of [...nodes(all.logs)].filter(({ k }) => k === "water"))
    assert.ok(a.d.endsWith("Z") && !a.d.includes(`V${floorOf(all, 1) - 1.5}`), "it stands on that");
});

test("segments lie on the shelf below: what left the disk, copies, and what is not there", () => {
  const step = structuredClone(RUNS[1].steps.get(30));
  const [part] = step.view.partitions;
  for (const replica of Object.values(part.replicas)) replica.local = 2;
  const segment = (first, last, read = true) => ({
    p: part.p,
    first,
    last,
    epochs: [[0, 0]],
    read,
  });
  const shelf = (segments, up = true) => {
    step.view.store = { up, slow: 0, segments };
    return drawn(step);
  };
  const words = (made, id) => found(made, id)?.c.find((one) => one.k === "t").x;
  const kind = (made, id) => found(made, id).a.class;

  const made = shelf([segment(0, 1), segment(2, 2)]);
  assert.equal(made.geo.base, 2, "the tank begins where the disk does");
  assert.equal(found(made, "b1:o1"), undefined);
  assert.deepEqual([words(made, "b1:sunk"), words(made, "b1:copies")], ["0–1", "2"]);
  const floor = made.geo.lanes.get(1).floor;
  const { a: box } = found(made, "b1:sunk").c.find((one) => one.k === "r");
  assert.ok(box.y > floor && box.y + box.height < made.geo.lanes.get(1).foot);
  assert.match(kind(shelf([segment(0, 1, false)]), "b1:sunk"), /unread/);
  assert.match(kind(shelf([]), "b1:sunk"), /bare/);
  assert.equal(found(shelf([], false), "store").a["data-up"], 0);
  const { geo } = drawn(RUNS[1].steps.get(30));
  assert.equal(geo.shelf.h, 0, "without remote storage it takes no room");
});

test("what is on its way hangs as near to its wish as there is room, and covers nothing", () => {
  const sky = { narrow: false, skies: 1, heads: { sky: 0 }, control: null, width: 300 };
  const places = rows(sky); // one row, from 4 to 296
  const xs = [];
  for (let at = places.find(150, 40); at; at = places.find(150, 40)) xs.push(at.x);
  assert.deepEqual(xs, [150, 105, 195, 60, 240, 15]);
  assert.equal(places.find(150, 300), null);
});

test("a phone has the whole record, whatever its width", () => {
  const [run] = RUNS;
  const [step] = run.steps.values();
  for (let width = 300; width <= 600; width += 1)
    for (const key of ["leader", "le", "pe", "isr"])
      assert.ok(found(drawn(step, width), `rec:${key}`), `${key} at ${width} px`);
});

/** A view of `count` brokers, of which the first three hold the partition, led by the third. */
function many(count) {
  const run = RUNS[0];
  const step = run.steps.get(0);
  const [one] = step.view.brokers;
  const brokers = Array.from({ length: count }, (_, i) => ({
    ...one,
    id: i + 1,
    name: `${i + 1}`,
  }));
  const [part] = step.view.partitions;
  const led = { ...part, record: { ...part.record, leader: 3 } };
  return { ...step, view: { ...step.view, brokers, partitions: [led] } };
}

test("a mark brings its broker into the place of one that does not lead, and back", () => {
  const step = many(9);
  const seated = (how) => [...tanks(step, { ...room(step), height: 520, ...how }).geo.lanes.keys()];
  assert.deepEqual(seated({}), [1, 2, 3]);
  assert.deepEqual(seated({ guest: 7 }), [1, 7, 3], "the leader stays");
  assert.deepEqual(seated({ guest: 2 }), [1, 2, 3], "the mark of who made room brings it back");
  const { marks } = tanks(step, { ...room(step), height: 520, guest: 7 }).geo;
  assert.deepEqual(
    marks.map((one) => one.id),
    [2, 4, 5, 6, 8, 9],
  );
});

test("marks without room come after those that were shown", () => {
  const step = many(60);
  const shown = (skip) =>
    tanks(step, { ...room(step, 390), height: 520, skip }).geo.marks.map((one) => one.id);
  const first = shown(0);
  assert.equal(first.at(-1), null);
  const next = shown(first.length - 1);
  assert.equal(next[0], first.at(-2) + 1);
  assert.equal(new Set([...first, ...next]).size, first.length + next.length - 1);
});
