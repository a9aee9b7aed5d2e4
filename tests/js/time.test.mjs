import assert from "node:assert/strict";
import test from "node:test";

import { breakOf, breakText, firstHit, hit, WHATS } from "../../static/js/core/breaks.js";
import { changeList } from "../../static/js/core/changes.js";
import { merged, railSpace, stepAt, timeOf } from "../../static/js/core/rail.js";
import { fixture } from "./helpers.mjs";

const run = fixture("s20");
const steps = [...run.steps.values()].sort((a, b) => a.n - b.n);
const where = (text) => firstHit(steps.slice(1), [breakOf(text)])?.step.n;

test("a breakpoint survives its text, and nonsense is none", () => {
  for (const text of [
    "hw",
    "hw@2",
    "rule=H-2",
    "rule=H-2@1",
    "method=Partition.truncateTo@2",
    "offset=5",
    "offset=5@2",
    "invariant=I7",
    "isr",
  ])
    assert.equal(breakText(breakOf(text)), text);
  for (const text of ["", "cat", "hw@x", "=3"]) assert.equal(breakOf(text), null);
  assert.ok(WHATS.every((what) => breakOf(what)));
});

test("stop when the high watermark of a broker moves", () => {
  const moved = (id) =>
    steps.find(
      (step, i) =>
        i &&
        step.view.partitions[0].replicas[id].hw !== steps[i - 1].view.partitions[0].replicas[id].hw,
    ).n;
  assert.equal(where("hw@1"), moved(1));
  assert.equal(where("hw@2"), moved(2));
  assert.equal(where("hw"), Math.min(moved(1), moved(2)));
});

test("stop at a rule, a broken invariant, an offset, a new leader", () => {
  assert.equal(
    where("rule=T-0@1"),
    steps.find((step) => step.cues.some((cue) => cue.rule === "T-0" && cue.node === 1)).n,
  );
  const first = run.facts.verdict.broken.map((b) => b.step).sort((a, b) => a - b)[0];
  assert.equal(where("invariant"), first);
  assert.equal(where("invariant=I99"), undefined);
  assert.ok(where("offset=3@2") < where("offset=3@1"), "the leader writes it first");
  const leads = steps.find(
    (step, i) =>
      i && step.view.partitions[0].record.leader !== steps[i - 1].view.partitions[0].record.leader,
  ).n;
  assert.equal(where("leader"), leads);
  assert.ok(!hit(steps[0], breakOf("hw")));
});

test("stop where a method runs, by the rules that run it", () => {
  const cut = { ...breakOf("method=truncateTo"), cues: ["T-0"] };
  assert.equal(firstHit(steps.slice(1), [cut]).step.n, where("rule=T-0"));
  assert.equal(firstHit(steps.slice(1), [{ ...cut, broker: "1" }]).step.n, where("rule=T-0@1"));
  assert.equal(where("method=truncateTo"), undefined, "not before it is known who runs it");
});

test("a rail spaced by time finds its steps again", () => {
  const clock = [
    [0, 0],
    [10, 0],
    [20, 1000],
    [30, 1100],
  ];
  assert.equal(timeOf(clock, 15), 500);
  assert.equal(stepAt(clock, 500), 15);
  assert.equal(stepAt(clock, 99_999), 30);
  const space = railSpace({ total: 30, clock }, true);
  assert.equal(space.max, 1100);
  for (const n of [12, 20, 25, 30]) assert.ok(Math.abs(space.step(space.of(n)) - n) <= 1);
  assert.equal(railSpace({ total: 30, clock }, false).max, 30);
  assert.equal(
    railSpace(
      {
        total: 3,
        clock: [
          [0, 0],
          [3, 0],
        ],
      },
      true,
    ).max,
    3,
    "a run in which time stands",
  );
});

test("crowded marks stand as one with a count, and the gravest is its face", () => {
  const space = railSpace({ total: 100, clock: [] }, false);
  const found = merged(
    [
      [10, "ack"],
      [10, "violation"],
      [11, "isr"],
      [50, "leader"],
    ],
    space,
    20,
  );
  assert.deepEqual(
    found.map(({ kind, count }) => [kind, count]),
    [
      ["violation", 3],
      ["leader", 1],
    ],
  );
  assert.equal(
    merged(
      [
        [10, "ack"],
        [50, "leader"],
      ],
      space,
      2,
    ).length,
    1,
  );
});

test("what a step changed is listed with the values before and after", () => {
  for (const step of steps.slice(1)) {
    for (const one of changeList(run.steps.get(step.n - 1), step, step.changed))
      assert.notEqual(one.was, one.now, `${step.n} ${one.ref}`);
  }
  const moved = steps.find((step) => step.changed?.has("b1:hw"));
  const line = changeList(run.steps.get(moved.n - 1), moved, moved.changed).find(
    (one) => one.ref === "b1:hw",
  );
  assert.equal(line.now, String(moved.view.partitions[0].replicas[1].hw));
});
