// What comes back when: the days are the reference library's, and a bad file loses nothing.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import * as memory from "../../static/js/learn/store/memory.js";
import * as fsrs from "../../static/vendor/ts-fsrs-5.4.2.mjs";

const DAY = 86_400_000;
const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const card = (more) => ({
  href: "/learn?s=S02",
  text: "?",
  stability: 2,
  difficulty: 5,
  due: 5 * DAY,
  last: DAY,
  reps: 1,
  lapses: 0,
  ...more,
});

/** As Anki and ts-fsrs show the reference's days: of two grades the better one waits longer. */
function parted([again, hard, good, easy]) {
  const third = Math.max(good, Math.min(hard, good) + 1);
  return [again, Math.min(hard, good), third, Math.max(easy, third + 1)];
}

test("intervals are those of py-fsrs for the same answers", () => {
  for (const { start, answers } of read("./fixtures/fsrs.json")) {
    let now = start;
    let held = { href: "/", text: "", reps: 0 };
    for (const { grade, wait, outlook, stability } of answers) {
      now += wait * DAY;
      const days = held.reps ? parted(outlook) : outlook;
      const waits = [1, 2, 3, 4].map((one) => memory.reviewed(fsrs, held, one, now).due - now);
      assert.deepEqual(
        waits.map((wait) => wait / DAY),
        days,
      );
      held = memory.reviewed(fsrs, held, grade, now);
      assert.equal((held.due - now) / DAY, days[grade - 1]);
      assert.ok(Math.abs(held.stability / stability - 1) < 1e-6, `${held.stability} ${stability}`);
    }
  }
});

test("what is due is what the day brings, the longest due first", () => {
  const now = new Date(2026, 0, 10, 9).getTime();
  const cards = {
    tonight: card({ due: now + 3_600_000 }),
    late: card({ due: now - 9 * DAY }),
    tomorrow: card({ due: now + DAY }),
  };
  assert.deepEqual(
    memory.due(cards, now).map(([id]) => id),
    ["late", "tonight"],
  );
  assert.equal(memory.counts(cards.tomorrow, now), false);
  assert.equal(memory.counts(cards.late, now), true);
  assert.equal(memory.next(cards), cards.late.due);
  assert.equal(memory.next({}), null);
});

test("a file is read as it was written, and of both the later answer counts", () => {
  const cards = { a: card(), b: card({ last: 3 * DAY }) };
  assert.deepEqual(memory.read(memory.written(cards)), cards);
  const theirs = { a: card({ last: 2 * DAY }), b: card({ last: 2 * DAY }), c: card() };
  const both = memory.merged(cards, theirs);
  assert.deepEqual(Object.keys(both).sort(), ["a", "b", "c"]);
  assert.equal(both.a.last, 2 * DAY);
  assert.equal(both.b.last, 3 * DAY);
});

test("whatever is no memory is refused as a whole", () => {
  const bad = [
    card({ href: "//elsewhere.example" }),
    card({ href: "javascript:alert(1)" }),
    card({ href: "/\\elsewhere.example" }),
    card({ due: "soon" }),
    card({ stability: 0 }),
    card({ difficulty: 11 }),
    card({ text: "x".repeat(601) }),
    card({ due: 9e15 }),
    null,
    3,
  ];
  for (const one of bad)
    assert.equal(
      memory.read(
        JSON.stringify({ what: "highwater memory", version: 1, cards: { good: card(), one } }),
      ),
      null,
    );
  const many = Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [i, card()]));
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    '{"cards":{}}',
    memory.written(many),
    memory.written([]),
    memory.written("x"),
  ])
    assert.equal(memory.read(text), null, text.slice(0, 40));
});
