import assert from "node:assert/strict";
import test from "node:test";

import { acts } from "../../static/js/scene/acts.js";
import { along, between } from "../../static/js/scene/fates.js";
import { mix, phases, travels } from "../../static/js/scene/motion.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { transition } from "../../static/js/scene/transition.js";
import { fixture, room, t } from "./helpers.mjs";

const at = (n, a) => n.find((one) => one.k === a);
const box = (k, x, more = {}) => ({ k, t: "rect", a: { x, class: "a" }, ...more });

test("a mixture begins as the one picture and ends as the other, for every pair of steps", () => {
  for (const name of ["s01", "s20", "s23"]) {
    const run = fixture(name);
    for (let n = 0; n < run.facts.total; n += 1) {
      const a = tanks(run.steps.get(n), room(run.steps.get(n)));
      const b = tanks(run.steps.get(n + 1), room(run.steps.get(n + 1)));
      for (const layer of ["logs", "over"]) {
        assert.equal(mix(a[layer], b[layer], 0), a[layer]);
        assert.equal(mix(a[layer], b[layer], 1), b[layer]);
        for (const p of [0.1, 0.5, 0.7, 0.95])
          assert.doesNotMatch(JSON.stringify(mix(a[layer], b[layer], p)), /NaN|null,null/);
      }
    }
  }
});

test("keys are unique among brothers in every picture", () => {
  const check = (nodes, where) => {
    assert.equal(
      new Set(nodes.map((n) => n.k)).size,
      nodes.length,
      `${where}: ${nodes.map((n) => n.k)}`,
    );
    nodes.forEach((n) => n.c && check(n.c, `${where}/${n.k}`));
  };
  for (const name of ["s01", "s20", "s23"]) {
    for (const step of fixture(name).steps.values())
      for (const width of [360, 900, 1500]) {
        const made = tanks(step, room(step, width));
        check(made.logs, `${name} ${step.n}`);
        check(made.over, `${name} ${step.n}`);
      }
  }
});

test("first the cause, then the effect: nothing changes while a message travels", () => {
  const message = {
    k: "m",
    t: "g",
    a: { class: "msg" },
    c: [],
    m: { at: [0, 50], from: [0, 0], to: [0, 100] },
  };
  const a = [message, box("mark", 10)];
  const b = [box("mark", 90)];
  assert.ok(travels(a, b));
  const early = mix(a, b, 0.3);
  assert.equal(at(early, "mark").a.x, 10);
  assert.notEqual(at(early, "m").a.transform, "translate(0,50)");
  const late = mix(a, b, 0.8);
  assert.ok(at(late, "mark").a.x > 10);
});

test("what is lost comes half way, breaks in two, and fades", () => {
  const message = {
    k: "m",
    t: "g",
    a: { class: "msg" },
    c: [],
    m: { at: [0, 0], from: [0, 0], to: [0, 100] },
  };
  const [whole, ...none] = mix([message], [], 0.6, { fate: () => "lost" });
  assert.match(whole.a.transform, /translate\(0,50\)/);
  assert.equal(none.length, 0);
  const halves = mix([message], [], 0.8, { fate: () => "lost" });
  assert.deepEqual(
    halves.map((n) => n.k),
    ["m-left", "m-right"],
  );
  assert.ok(halves.every((n) => n.a.opacity < 1 && / lost$/.test(n.a.class)));
});

test("what arrives dissolves into the card it reaches", () => {
  const message = {
    k: "m",
    t: "g",
    a: { class: "msg" },
    c: [],
    m: { at: [0, 0], from: [0, 0], to: [0, 100] },
  };
  const [end] = mix([message], [], 0.7);
  assert.match(end.a.transform, /translate\([1-9][\d.]*,100\) scale\(0/);
  assert.deepEqual(mix([message], [], 0.99), []);
});

test("without travellers the effect starts at once", () => {
  assert.ok(phases(0.5, false).effect > 0.5);
  assert.equal(phases(0.5, true).effect, 0);
});

test("a way begins and ends at its anchors and bows between", () => {
  assert.deepEqual(along([10, 0], [10, 80], 0, 9), [10, 0]);
  assert.ok(Math.abs(along([10, 0], [10, 80], 1, 9)[0] - 10) < 1e-9);
  assert.ok(along([10, 0], [10, 80], 0.5, 9)[0] < 2);
});

test("records arrive by growing and leave by falling", () => {
  const cell = { k: "o3", t: "g", a: { class: "record" }, c: [], m: { enter: "grow", x: 5 } };
  assert.match(at(mix([], [cell], 0.4), "o3").a.transform, /scale/);
  assert.match(at(mix([cell], [], 0.4, { fate: () => "fall" }), "o3").a.transform, /translate\(0,/);
});

test("a layer waits for what travels in another", () => {
  assert.equal(at(mix([box("mark", 10)], [box("mark", 90)], 0.5, { cause: true }), "mark").a.x, 10);
});

test("paths of one shape are drawn between, others change over", () => {
  assert.equal(between("M0 0L10 20", "M10 0L20 20", 0.5), "M5 0L15 20");
  assert.equal(between("M0 0L1 1", "M5 5", 0.4), "M0 0L1 1");
});

// -- whole steps
// ------------------------------------------------------------------------------------

const seen = (step) => ({ step, ...tanks(step, room(step)) });
const flat = (nodes, out = []) => {
  for (const n of nodes) {
    out.push(n);
    if (n.c) flat(n.c, out);
  }
  return out;
};
const way = (a, b) => {
  const made = transition(seen(a), seen(b), { t });
  return (p) => {
    const { logs, over } = made(p);
    return flat([...logs, ...over]);
  };
};
const byId = (nodes, id) => nodes.find((n) => n.a["data-id"] === id);
const opacity = (n) => n.a.opacity ?? 1;
const s20 = fixture("s20");

test("a transition begins and ends exactly as the pictures of its steps, and adds nothing to them", () => {
  for (const name of ["s01", "s20", "s23"]) {
    const run = fixture(name);
    for (let n = 0; n < run.facts.total; n += 1) {
      const [a, b] = [seen(run.steps.get(n)), seen(run.steps.get(n + 1))];
      const made = transition(a, b, { t });
      assert.deepEqual(made(0), { logs: a.logs, over: a.over });
      assert.deepEqual(made(1), { logs: b.logs, over: b.over });
      for (const p of [0.2, 0.55, 0.61, 0.8]) {
        const { logs, over } = made(p);
        assert.doesNotMatch(JSON.stringify([logs, over]), /NaN|undefined/, `${name} ${n}`);
        for (const list of [logs, over])
          assert.equal(new Set(list.map((one) => one.k)).size, list.length, `${name} ${n}`);
      }
      assert.deepEqual(made(0.7), transition(a, b, { t })(0.7), "no state");
    }
  }
});

test("a cut: its line drops in and the doomed are outlined, then they fall, and the end goes back", () => {
  const made = way(s20.steps.get(42), s20.steps.get(43));
  const early = made(0.5);
  assert.ok(early.find((n) => n.a["data-act"] === "cut:1:3"));
  assert.equal(
    byId(early, "b1:leo").c[0].a.d,
    byId(made(0), "b1:leo").c[0].a.d,
    "nothing has changed yet",
  );
  const doomed = (nodes) => byId(nodes, "b1:o3").c.find((n) => n.k === "r").a.class;
  assert.match(doomed(early), /doomed/);
  assert.doesNotMatch(byId(early, "b1:o2").c.find((n) => n.k === "r").a.class, /doomed/);
  const late = made(0.8);
  assert.match(byId(late, "b1:o3").a.transform, /translate\(0,1\d/);
  assert.ok(opacity(byId(late, "b1:o3")) < 0.5);
  assert.ok(!made(0.97).some((n) => n.a["data-act"]), "the line is gone before the end");
});

test("a crash: a bolt first; the crown lifts; what was in memory slips off, the log stays", () => {
  const before = s20.steps.get(47);
  const after = s20.steps.get(48);
  const made = way(before, after);
  assert.ok(made(0.4).some((n) => n.k === "bolt2"));
  const crown = (nodes) => nodes.find((n) => n.k === "crown");
  assert.match(crown(made(0.4)).a.transform, /translate\(0,-/);
  assert.ok(opacity(crown(made(0.55))) < 0.3);
  const memory = before.view.partitions[0].replicas[2].remote;
  assert.ok(Object.keys(memory).length, "the leader remembered somebody");
  assert.match(byId(made(0.75), `b2:mem${Object.keys(memory)[0]}`).a.transform, /translate\(0,/);
  assert.equal(byId(made(0.75), "b2:o0").a.transform, undefined);
});

test("a new leader's crown lands when all else changes", () => {
  const made = way(s20.steps.get(55), s20.steps.get(56));
  const crown = (p) =>
    made(p)
      .filter((n) => n.k === "crown")
      .at(-1);
  assert.ok(opacity(crown(0.4)) === 0 && opacity(crown(0.9)) > 0.8);
});

test("a power failure dissolves what was not flushed, where it stands, and says how much", () => {
  const before = s20.steps.get(47);
  const after = structuredClone(s20.steps.get(48));
  Object.assign(after.view.partitions[0].replicas[2], {
    leo: 3,
    hw: 3,
    cut: [],
    records: after.view.partitions[0].replicas[2].records.slice(0, 3),
    runs: [[0, 3, 0]],
  });
  after.was = { 0: { 2: { leo: 5, hw: 5 } } };
  const late = way(before, after)(0.75);
  assert.equal(byId(late, "b2:o4").a.transform, undefined);
  assert.ok(opacity(byId(late, "b2:o4")) < 1);
  assert.equal(byId(way(before, after)(1), "b2:unflushed").x, "lost 2 unflushed");
});

test("a broker that starts shows its high watermark hollow, and from where it has it", () => {
  const mark = (a, b) => byId(way(s20.steps.get(a), s20.steps.get(b))(1), "b2:hw");
  const words = (one) => one.c.find((n) => n.t === "title").x;
  assert.match(words(mark(59, 60)), /from checkpoint 5/);
  assert.match(JSON.stringify(mark(59, 60)), /hollow/);
  assert.doesNotMatch(words(mark(65, 66)), /checkpoint/);
});

test("a message that leaves without arriving is lost; of a leap only a drop is known", () => {
  const before = s20.steps.get(27);
  const [m] = before.view.messages;
  const gone = (more) =>
    acts(
      before,
      { ...s20.steps.get(28), view: { ...s20.steps.get(28).view, messages: [] }, ...more },
      0,
    ).lost;
  assert.deepEqual([...gone({ arrived: m.id })], []);
  assert.deepEqual([...gone({ arrived: null })], [m.id]);
  assert.deepEqual([...gone({ n: 60, arrived: null, move: "settle" })], []);
  assert.deepEqual([...gone({ n: 60, arrived: null, move: "drop 1->2" })], [m.id]);
});

test("on the stage the lost one breaks, the one that arrives does not", () => {
  const before = s20.steps.get(27);
  const [m] = before.view.messages;
  const halves = (arrived) =>
    way(before, {
      ...s20.steps.get(28),
      arrived,
      view: { ...s20.steps.get(28).view, messages: [] },
    })(0.8).filter((n) => n.k.startsWith(`msg-${m.id}-`)).length;
  assert.deepEqual([halves(null), halves(m.id)], [2, 0]);
});

test("cuts, crashes and falls from the lead are shown before their effect, an append is not", () => {
  const cause = (a, b) => acts(s20.steps.get(a), s20.steps.get(b), 0).cause;
  assert.deepEqual(
    [cause(42, 43), cause(33, 34), cause(47, 48), cause(1, 2), cause(59, 60)],
    [true, true, true, false, false],
  );
});
