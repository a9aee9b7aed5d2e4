// Seeds that several engines share are each counted once, and the first of what breaks is kept.

import assert from "node:assert/strict";
import { test } from "node:test";

import { count } from "../../static/js/site/seeds.js";

/** An engine that answers after `ms`: even seeds violate, seeds from 10 on break I1 as well. */
function engine(ms, log) {
  return {
    ask: async (_kind, { request }) => {
      const { profile, first, count: runs } = JSON.parse(request);
      log.push([profile, first, runs]);
      await new Promise((done) => setTimeout(done, ms));
      const seeds = Array.from({ length: runs }, (_, n) => first + n);
      const late = seeds.filter((seed) => seed >= 10);
      return {
        ok: true,
        runs,
        errors: 0,
        violates: seeds.filter((seed) => seed % 2 === 0).length,
        broken: late.length ? { I1: late.length } : {},
        first: late.length ? { I1: [late[0], 7] } : {},
      };
    },
  };
}

const asked = (engines, signal, heard = () => undefined) =>
  count({ scenario: "s", profiles: ["A", "B"], runs: 50, lang: "en", engines, signal, heard });

test("each seed of each profile is played once, whichever engine is free", async () => {
  const logs = [[], []];
  const counts = await asked(
    [engine(1, logs[0]), engine(5, logs[1])],
    new AbortController().signal,
  );
  const played = logs.flat().sort();
  assert.deepEqual(
    played,
    ["A", "B"].flatMap((one) => [
      [one, 0, 20],
      [one, 20, 20],
      [one, 40, 10],
    ]),
  );
  assert.ok(
    logs.every((log) => log.length),
    "both engines play",
  );
  for (const name of ["A", "B"])
    assert.deepEqual(counts.get(name), {
      runs: 50,
      violates: 25,
      errors: 0,
      broken: { I1: 40 },
      first: { I1: [10, 7] },
    });
});

test("who stops early has some of each profile, and no answer that comes later", async () => {
  const stop = new AbortController();
  const heard = [];
  const counts = await asked([engine(1, [])], stop.signal, (_counts, done) => {
    heard.push(done);
    if (done >= 40) stop.abort();
  });
  assert.deepEqual(heard, [20, 40]);
  assert.deepEqual(
    [...counts.values()].map((one) => one.runs),
    [20, 20],
  );
});

test("a refusal ends the count with its sentence", async () => {
  const refusing = { ask: async () => ({ ok: false, sentence: "There is no such scenario." }) };
  await assert.rejects(asked([refusing], new AbortController().signal), /no such scenario/);
});
