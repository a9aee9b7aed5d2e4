import assert from "node:assert/strict";
import test from "node:test";

import { changes } from "../../static/js/core/changes.js";
import { detailTarget, partial } from "../../static/js/core/detail.js";
import {
  add,
  branchName,
  chapterAt,
  chapterEnds,
  isQuiet,
  moments,
  nextSeen,
  tape,
  target,
  wanted,
} from "../../static/js/core/history.js";
import { fixture } from "./helpers.mjs";

const run = fixture("s20");
const { facts } = run;

test("an event on and back is where one was", () => {
  for (let n = 0; n < facts.total; n += 1)
    assert.equal(target(facts, target(facts, n, "event", 1), "event", -1), n);
  assert.equal(target(facts, facts.total, "event", 1), facts.total);
  assert.equal(target(facts, 0, "event", -1), 0);
});

test("every size ends at the ends and visits its stops in order", () => {
  for (const size of ["event", "moment", "chapter"]) {
    const visited = [0];
    while (visited.at(-1) < facts.total) {
      const next = target(facts, visited.at(-1), size, 1);
      assert.ok(next > visited.at(-1));
      visited.push(next);
    }
    const back = [facts.total];
    while (back.at(-1) > 0) {
      const next = target(facts, back.at(-1), size, -1);
      assert.ok(next < back.at(-1));
      back.push(next);
    }
    assert.deepEqual(back.reverse(), visited);
  }
});

test("moments are the marked steps, each once; chapters end where the next begins", () => {
  assert.deepEqual(
    moments({
      marks: [
        [5, "ack"],
        [2, "fault"],
        [5, "hw"],
      ],
    }),
    [2, 5],
  );
  assert.deepEqual(
    chapterEnds({
      total: 9,
      chapters: [
        [1, "a"],
        [4, "b"],
        [5, "c"],
      ],
    }),
    [3, 4, 9],
  );
  assert.equal(chapterAt(facts, 0), null);
  assert.equal(chapterAt({ ...facts, chapters: [[1, "produce m0", "why"]] }, 3).text, "produce m0");
});

test("a tape knows what it lacks, and what each step changed", () => {
  const part = tape(
    facts,
    [0, 1, 2, 6].map((n) => run.steps.get(n)),
  );
  assert.deepEqual(wanted(part, 0, 8), [3, 6]);
  add(
    part,
    [3, 4, 5, 7, 8].map((n) => run.steps.get(n)),
  );
  assert.equal(wanted(part, 0, 8), null);
  assert.ok(run.steps.get(2).changed.has("b2:leo"), "the leader appends in step 2");
});

test("changes name the fields that differ and no others", () => {
  const { view } = run.steps.get(4);
  assert.equal(changes(view, structuredClone(view)).size, 0);
  const other = structuredClone(view);
  other.partitions[0].replicas["1"].hw += 1;
  other.partitions[0].record.isr = [2];
  assert.deepEqual([...changes(view, other)].sort(), ["b1:hw", "b1:isr", "rec:isr"]);
});

test("a branch is called by its first own move", () => {
  const parent = { facts: { moves: ["produce a", "kill 1"] } };
  assert.equal(branchName({ moves: ["produce a", "kill 2"] }, parent), "kill 2");
  assert.equal(branchName({ moves: ["produce a !2", "kill 2"] }, parent), "kill 2");
  assert.equal(branchName({ moves: [] }, null), null);
});

test("detail goes through the cues of the coming step and comes back", () => {
  const known = (n) => ({ cues: Array(n === 2 ? 3 : 1).fill({}) });
  const seen = [];
  let at = { n: 0, cue: null };
  for (let i = 0; i < 6 && at.n < 3; i += 1) {
    at = detailTarget(known, 3, at.n, at.cue, 1);
    seen.push(`${at.n}.${at.cue}`);
  }
  assert.deepEqual(seen, ["1.null", "1.0", "1.1", "2.null", "3.null"]);
  assert.deepEqual(detailTarget(known, 3, 2, null, -1), { n: 1, cue: 1 });
  assert.deepEqual(detailTarget(known, 3, 1, 0, -1), { n: 1, cue: null });
});

test("a part of a step changes only what its cues have named", () => {
  const before = run.steps.get(0);
  const after = {
    ...run.steps.get(1),
    cues: [
      { rule: "L-1", node: 2, field: "leo", p: 0 },
      { rule: "H-2", node: 2, field: "hw", p: 0 },
    ],
  };
  const made = partial(before, after, 0);
  assert.equal(
    made.view.partitions[0].replicas["2"].leo,
    after.view.partitions[0].replicas["2"].leo,
  );
  assert.equal(before.view.partitions[0].replicas["2"].leo, 0, "the step itself stays as it was");
});

test("what is told of one partition leaves the others as they were", () => {
  const before = structuredClone(run.steps.get(0));
  const after = structuredClone(run.steps.get(1));
  for (const step of [before, after])
    step.view.partitions.push({ ...structuredClone(step.view.partitions[0]), p: 1 });
  for (const part of after.view.partitions) part.replicas["2"].leo = 7;
  after.cues = [{ rule: "L-3", node: 2, field: "leo", p: 1 }];
  const leo = (step, p) => step.view.partitions[p].replicas["2"].leo;
  const made = partial(before, after, 0);
  assert.deepEqual([leo(made, 0), leo(made, 1)], [leo(before, 0), 7]);
});

test("quiet steps are passed over, but never the end of a line, and the way back is the same", () => {
  const on = fixture("s01");
  for (const size of [1]) {
    const forth = [0];
    while (forth.at(-1) < on.facts.total) forth.push(nextSeen(on, forth.at(-1), size));
    const back = [on.facts.total];
    while (back.at(-1) > 0) back.push(nextSeen(on, back.at(-1), -size));
    assert.deepEqual(back.reverse(), forth);
    for (const end of chapterEnds(on.facts)) assert.ok(forth.includes(end));
    for (const [n, step] of on.steps) if (step.moment > 0) assert.ok(forth.includes(n));
  }
  const step = structuredClone(on.steps.get(2));
  assert.ok(isQuiet({ ...step, moment: 0, changed: new Set() }, step));
  assert.ok(!isQuiet({ ...step, moment: 0, changed: new Set(["b1:hw"]) }, step));
});
