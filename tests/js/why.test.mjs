import assert from "node:assert/strict";
import test from "node:test";

import { later } from "../../static/js/core/recurrence.js";
import { namer } from "../../static/js/i18n/words.js";
import { spots } from "../../static/js/scene/spots.js";
import { tanks } from "../../static/js/scene/tanks/picture.js";
import { fixture, room, t } from "./helpers.mjs";

const run = fixture("s01");
const at = (n) => {
  const step = run.steps.get(n);
  return { step, ...tanks(step, room(step, 1000)) };
};
const words = (step) => ({ t, name: namer(t, step.view.brokers) });
const number = (who) => Number(who);

test("marks, pills, crown and waiting writes can be asked about, each once", () => {
  const shown = at(2);
  const found = spots(shown, words(shown.step));
  const subjects = found.map((one) => one.subject);
  for (const subject of ["hw 1", "hw 2", "hw 3", "isr 1", "isr 2", "isr 3", "leader 1", "ack a"])
    assert.ok(subjects.includes(subject), subject);
  assert.equal(new Set(found.map((one) => one.id)).size, found.length);
  for (const one of found) {
    assert.ok(one.w >= 24 && one.h >= 24, one.id);
    assert.ok(!one.label.includes("{"), one.label);
  }
});

test("what happens later is found among the known steps", () => {
  assert.equal(later(run, 7, "hw 1", 0, number), 14);
  assert.equal(later(run, 7, "hw", 0, number), 14);
  assert.equal(later(run, 14, "hw 1", 0, number), null);
  assert.equal(later(run, 7, "isr 2", 0, number), null);
  const ack = later(run, 2, "ack a", 0, number);
  assert.ok(ack > 14 && run.steps.get(ack).view.ledger.acked === 1);
  assert.equal(later(run, 7, "move restart 1", 0, number), null);
});
