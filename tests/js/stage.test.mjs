import assert from "node:assert/strict";
import test from "node:test";

import { changedIn, changes, earlier } from "../../static/js/core/changes.js";
import { add, tape } from "../../static/js/core/history.js";
import { fitting, surgeryMoves, surgeryText } from "../../static/js/core/moves.js";
import { LAYERS, layersOf, layersText, toggled, USUAL } from "../../static/js/scene/layers.js";
import { rows, shade } from "../../static/js/scene/matrix.js";
import { mix } from "../../static/js/scene/motion.js";
import { exchanges, ownEnd } from "../../static/js/scene/tanks/parting.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { fixture, room } from "./helpers.mjs";

const ids = (nodes, out = new Map()) => {
  for (const n of nodes) {
    if (n.a?.["data-id"]) out.set(n.a["data-id"], n);
    if (n.c) ids(n.c, out);
  }
  return out;
};
const drawn = (step, more = {}) => {
  const made = tanks(step, { ...room(step), ...more });
  return ids([...made.logs, ...made.over]);
};

test("a choice of layers survives its text, and unknown names are passed over", () => {
  assert.equal(layersText(USUAL), "");
  for (const name of LAYERS) {
    const set = toggled(USUAL, name);
    assert.deepEqual([...layersOf(layersText(set))].sort(), [...set].sort());
  }
  assert.deepEqual([...layersOf("smoke,-mirrors")].sort(), [...USUAL].sort());
});

test("an own epoch ends where a later one begins, or with the log", () => {
  const replica = {
    epochs: [
      [0, 0],
      [2, 5],
    ],
    leo: 9,
  };
  assert.deepEqual(
    [0, 1, 2, 3].map((e) => ownEnd(replica, e)),
    [5, 5, 9, 9],
  );
});

test("who asks for an epoch's end sees both vectors, and where the cut will be", () => {
  const run = fixture("s23");
  const asking = [...run.steps.values()].filter((step) => exchanges(step.view).length);
  assert.ok(
    asking.some((step) => exchanges(step.view)[0].answer === null),
    "a question under way",
  );
  const told = asking.filter((step) => exchanges(step.view)[0].answer);
  assert.ok(told.length);
  for (const step of told) {
    const [x] = exchanges(step.view);
    const mine = step.view.partitions[0].replicas[x.follower];
    assert.equal(
      drawn(step).get(`part:${x.follower}`).a["data-offset"],
      Math.min(x.answer[1], ownEnd(mine, x.answer[0])),
    );
  }
});

test("layers leave out what they are for, and nothing else", () => {
  const step = fixture("s20").steps.get(30);
  const of = (text) => new Set([...drawn(step, { layers: layersOf(text) }).keys()]);
  const all = of("ends,epochs");
  assert.ok(all.has("b1:hw") && !of("-watermarks").has("b1:hw") && !of("").has("b1:leo"));
  assert.ok(all.has("b1:e0") && !of("ends").has("b1:e0"));
  assert.ok(!all.has("b1:disk") && of("disk").has("b1:disk") && of("disk").has("b1:rp"));
  const sessions = (text) => [...of(text).keys()].filter((id) => id.endsWith(":session"));
  assert.ok(!sessions("").length && sessions("sessions").length);
});

test("ghosts stand until the next moment", () => {
  const run = fixture("s20");
  const cut = [...run.steps.values()].find((step) =>
    Object.values(step.view.partitions[0].replicas).some((r) => r.cut.length),
  );
  const next = run.steps.get(cut.n + 1);
  assert.ok(
    next.moment < 2 && [...drawn(next).keys()].some((id) => id.includes(":cut")),
    "still there",
  );
  const later = [...run.steps.values()].find((step) => step.n > cut.n && step.moment >= 2);
  assert.ok(
    ![...drawn(later).keys()].some((id) => id.includes(":cut")),
    "gone with the next moment",
  );
});

test("a high watermark that goes back leaves a trail for that step", () => {
  const run = fixture("s20");
  const [a, b] = [structuredClone(run.steps.get(30)), structuredClone(run.steps.get(31))];
  a.view.partitions[0].replicas[1].hw = b.view.partitions[0].replicas[1].hw + 2;
  delete b.changed;
  const made = tape(run.facts, []);
  add(made, [a, b]);
  assert.equal(b.was[0][1].hw, a.view.partitions[0].replicas[1].hw);
  assert.ok(drawn(b).has("b1:trail"));
  assert.deepEqual(earlier(b.view, b.view), {});
});

test("what changed in a second partition is told under its own name", () => {
  const step = structuredClone(fixture("s20").steps.get(30));
  step.view.partitions.push({ ...structuredClone(step.view.partitions[0]), p: 1 });
  const before = structuredClone(step);
  step.view.partitions[1].replicas[1].hw += 1;
  const found = changes(before.view, step.view);
  assert.deepEqual([...found], ["p1/b1:hw"]);
  assert.deepEqual([...changedIn(found, 1)], ["b1:hw"]);
  assert.deepEqual([...changedIn(found, 0)], ["p1/b1:hw"]);
});

test("a partition's squares say who leads, who is in sync, how far behind", () => {
  const step = structuredClone(fixture("s20").steps.get(30));
  const part = step.view.partitions[0];
  part.replicas[1].leo = part.replicas[2].leo - 2;
  const [row] = rows(step.view);
  const by = Object.fromEntries(step.view.brokers.map((b, i) => [b.id, row.squares[i]]));
  assert.equal(by[part.record.leader].recorded, true);
  assert.equal(by[1].behind, part.record.leader === 1 ? 0 : 2);
  assert.equal(row.health, part.record.isr.length === part.ar.length ? "full" : "under");
  part.record.leader = -1;
  assert.equal(rows(step.view)[0].health, "leaderless");
  assert.deepEqual([0, 1, 5, 99].map(shade), [0, 1, 2, 3]);
});

test("what may be done with a message: its own moves, none while another goes first", () => {
  assert.equal(surgeryText("delay", "2->1 Fetch", 700), "delay 2->1 700ms Fetch");
  assert.equal(surgeryText("drop", "2->1"), "drop 2->1");
  const verbs = [
    "deliver 2->1",
    "drop 2->1",
    "hold 2->1",
    "release 2->1",
    "delay 2->1 500ms",
    "duplicate 2->1",
    "deliver 1->2",
    "kill 2",
  ];
  const moves = verbs.map((text) => ({
    text,
    enabled: !text.startsWith("release"),
    why: text.startsWith("release") ? "Nothing is held." : "",
  }));
  const mine = surgeryMoves({ way: "2->1" }, moves, { behind: "Wait." });
  assert.deepEqual(
    mine.map((m) => m.text),
    verbs.slice(0, 2).concat(verbs.slice(2, 6)),
  );
  assert.ok(
    surgeryMoves({ way: "2->1", behind: 4 }, moves, { behind: "Wait." }).every(
      (m) => !m.enabled && m.why === "Wait.",
    ),
  );
  assert.ok(!fitting(mine, { held: false }).some((m) => m.text.startsWith("release")));
});

test("with every layer drawn, keys are unique, numbers are numbers, and motion is possible", () => {
  const check = (nodes, where) => {
    assert.equal(
      new Set(nodes.map((n) => n.k)).size,
      nodes.length,
      `${where}: ${nodes.map((n) => n.k)}`,
    );
    nodes.forEach((n) => n.c && check(n.c, `${where}/${n.k}`));
  };
  const layers = new Set(LAYERS);
  for (const name of ["s20", "s23"]) {
    let last = null;
    for (const step of fixture(name).steps.values())
      for (const width of [360, 1000]) {
        const made = tanks(step, { ...room(step, width), layers });
        for (const layer of ["logs", "over"]) {
          check(made[layer], `${name} ${step.n}`);
          assert.doesNotMatch(JSON.stringify(made[layer]), /NaN|null,null|undefined/);
          if (last && width === 1000)
            assert.doesNotMatch(JSON.stringify(mix(last[layer], made[layer], 0.7)), /NaN/);
        }
        if (width === 1000) last = made;
      }
  }
});
