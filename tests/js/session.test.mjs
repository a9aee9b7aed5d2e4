// Sessions: what is asked first, as many true claims as false ones, and where an interview leads.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as sessions from "../../static/js/learn/store/session.js";

const DAY = 86_400_000;
const card = (id, kind, more) => ({ id, href: `/practice/${id}`, kind, topic: "isr", ...more });
const deck = [
  ...Array.from({ length: 12 }, (_, i) => card(`F${i}`, "claim", { right: false })),
  ...Array.from({ length: 5 }, (_, i) => card(`T${i}`, "claim", { right: true })),
  ...Array.from({ length: 9 }, (_, i) => card(`P${i}`, "prediction")),
  ...Array.from({ length: 12 }, (_, i) => card(`Q${i}`, "interview", { level: (i % 3) + 1 })),
];
let seed = 1;
const chance = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
const ids = (cards) => cards.map(({ id }) => id);

test("what is due comes first, then what was never asked, then the rest", () => {
  const memory = { P1: { due: 2 * DAY }, P2: { due: 9 * DAY }, Q4: { due: DAY } };
  const order = ids(sessions.ordered(deck, memory, 3 * DAY));
  assert.deepEqual([...order.slice(0, 2), order.at(-1)], ["Q4", "P1", "P2"]);
  assert.equal(sessions.ordered(deck, memory, 3 * DAY, ["P2"])[0].id, "P2");
});

test("a session has as many true claims as false ones, however few of a side are due", () => {
  for (let round = 0; round < 40; round += 1) {
    const due = Object.fromEntries(
      deck.filter(() => chance() < 0.4).map(({ id }) => [id, { due: chance() * DAY }]),
    );
    const some = deck.filter(() => chance() < 0.7);
    const asked = sessions.session(sessions.ordered(some, due, DAY / 2, [], chance), chance);
    const sides = [true, false].map((right) => asked.filter((one) => one.right === right).length);
    assert.equal(sides[0], sides[1]);
    assert.ok(asked.filter((one) => one.kind === "interview").length <= 2);
    assert.equal(new Set(ids(asked)).size, asked.length);
  }
});

test("an interview has eight questions by level", () => {
  const asked = sessions.interview(sessions.ordered(deck, {}, DAY));
  assert.deepEqual(
    asked.map((one) => one.level),
    [1, 1, 1, 2, 2, 2, 3, 3],
  );
});

test("an interview asks on behind a good answer, each question once", () => {
  const cards = ["Q1", "Q2"].map((id) => ({ id, href: `/practice/${id}` }));
  const then = { id: "Q7", href: "/practice/Q7" };
  const mock = {
    name: "mock",
    cards,
    until: DAY,
    done: { Q1: { share: 0.6 }, Q2: { share: 0.2 } },
  };
  const asked = sessions.deepened(mock, "Q1", then);
  assert.deepEqual(ids(asked.cards), ["Q1", "Q7", "Q2"]);
  assert.equal(sessions.deepened(asked, "Q1", then), asked);
  assert.equal(sessions.deepened(mock, "Q2", then), mock);
  assert.equal(sessions.deepened({ ...mock, name: "ten" }, "Q1", then).cards.length, 2);
  assert.equal(sessions.next(asked, "Q1", 0), "/practice/Q7");
  assert.equal(sessions.next(asked, "Q1", DAY), "/practice#done");
  assert.equal(sessions.next(asked, "Q2", 0), "/practice#done");
});
