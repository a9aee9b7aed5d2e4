import assert from "node:assert/strict";
import test from "node:test";
import { along, between, mix, phases, travels } from "../../static/js/scene/motion.js";
import { picture } from "../../static/js/scene/picture.js";
import { fixture, room } from "./helpers.mjs";

const at = (n, a) => n.find((one) => one.k === a);
const box = (k, x, more = {}) => ({ k, t: "rect", a: { x, class: "a" }, ...more });

test("a mixture begins as the one picture and ends as the other, for every pair of steps", () => {
  for (const name of ["s01", "s20", "s23"]) {
    const run = fixture(name);
    for (let n = 0; n < run.facts.total; n += 1) {
      const a = picture(run.steps.get(n), room(run.steps.get(n)));
      const b = picture(run.steps.get(n + 1), room(run.steps.get(n + 1)));
      for (const layer of ["logs", "over"]) {
        assert.equal(mix(a[layer], b[layer], 0), a[layer]);
        assert.equal(mix(a[layer], b[layer], 1), b[layer]);
        for (const p of [0.1, 0.5, 0.7, 0.95]) assert.doesNotMatch(JSON.stringify(mix(a[layer], b[layer], p)), /NaN|null,null/);
      }
    }
  }
});

test("keys are unique among brothers in every picture", () => {
  const check = (nodes, where) => {
    assert.equal(new Set(nodes.map((n) => n.k)).size, nodes.length, `${where}: ${nodes.map((n) => n.k)}`);
    nodes.forEach((n) => n.c && check(n.c, `${where}/${n.k}`));
  };
  for (const name of ["s01", "s20", "s23"]) {
    for (const step of fixture(name).steps.values()) for (const width of [360, 900, 1500]) {
      const made = picture(step, room(step, width));
      check(made.logs, `${name} ${step.n}`);
      check(made.over, `${name} ${step.n}`);
    }
  }
});

test("first the cause, then the effect: nothing changes while a message travels", () => {
  const message = { k: "m", t: "g", a: { class: "msg" }, c: [], m: { at: [0, 50], from: [0, 0], to: [0, 100] } };
  const a = [message, box("mark", 10)];
  const b = [box("mark", 90)];
  assert.ok(travels(a, b));
  const early = mix(a, b, 0.3);
  assert.equal(at(early, "mark").a.x, 10);
  assert.notEqual(at(early, "m").a.transform, "translate(0,50)");
  const late = mix(a, b, 0.8);
  assert.ok(at(late, "mark").a.x > 10);
});

test("what travels is dropped half way when it is lost", () => {
  const message = { k: "m", t: "g", a: { class: "msg" }, c: [], m: { at: [0, 0], from: [0, 0], to: [0, 100] } };
  const [end] = mix([message], [], 0.6, { dropped: () => true });
  assert.match(end.a.transform, /translate\(0,50\)/);
  assert.match(end.a.class, /lost/);
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
  const cell = { k: "o3", t: "g", a: { class: "record" }, c: [], m: { enter: "grow", cx: 5, cy: 5, exit: "fall" } };
  assert.match(at(mix([], [cell], 0.4), "o3").a.transform, /scale/);
  assert.match(at(mix([cell], [], 0.4), "o3").a.transform, /translate\(0,/);
});

test("a layer waits for what travels in another", () => {
  assert.equal(at(mix([box("mark", 10)], [box("mark", 90)], 0.5, { cause: true }), "mark").a.x, 10);
});

test("paths of one shape are drawn between, others change over", () => {
  assert.equal(between("M0 0L10 20", "M10 0L20 20", 0.5), "M5 0L15 20");
  assert.equal(between("M0 0L1 1", "M5 5", 0.4), "M0 0L1 1");
});
