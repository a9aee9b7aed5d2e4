// A mock interview: eight questions by level, a follow-up to each, a second to who answers well.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawn, missed, next } from "../../static/js/learn/mock.js";

const all = Array.from({ length: 30 }, (_, i) => ({
  id: `Q${i + 1}`,
  level: (i % 3) + 1,
  share: i < 3 ? 0 : null,
}));
const thenOf = (id) => `then ${id}`;

function walk(ids, shares, then = thenOf) {
  const turns = [];
  for (let turn = next(turns, ids, then); turn; turn = next(turns, ids, then))
    turns.push({ ...turn, share: shares(turn) });
  return turns;
}

test("eight are drawn by level, none twice, and what was missed comes first", () => {
  const ids = drawn(all, () => 0);
  assert.equal(new Set(ids).size, 8);
  const levels = ids.map((id) => all.find((one) => one.id === id).level);
  assert.deepEqual(levels, [1, 1, 1, 2, 2, 2, 3, 3]);
  for (const id of ["Q1", "Q2", "Q3"]) assert.ok(ids.includes(id));
});

test("who answers well is asked two follow-ups to each question", () => {
  const turns = walk(["Q1", "Q2"], () => 1);
  const asked = turns.map((turn) => `${turn.part} ${turn.id}`);
  assert.deepEqual(asked.slice(0, 3), ["main Q1", "follow Q1", "deeper then Q1"]);
  assert.equal(turns.length, 6);
  assert.deepEqual(missed(turns), []);
});

test("who does not is asked one, and reads each question once on the sheet", () => {
  const turns = walk(["Q1", "Q2"], () => 0);
  assert.deepEqual(
    turns.map((turn) => turn.part),
    ["main", "follow", "main", "follow"],
  );
  assert.deepEqual(missed(turns), ["Q1", "Q2"]);
});

test("no question is asked twice in one interview", () => {
  const turns = walk(
    ["Q1", "Q2", "Q3"],
    () => 1,
    () => "Q3",
  );
  assert.equal(turns.filter((turn) => turn.part !== "follow" && turn.id === "Q3").length, 1);
});
