import assert from "node:assert/strict";
import test from "node:test";

import { pack, unpack } from "../../static/js/core/packing.js";
import { read, written } from "../../static/js/core/runs_file.js";

const TEXT = '{"moves": ["kill 1"]}';
const own = async (text = TEXT) => ({
  run: "0123456789abcdef",
  url: `/s/S01?step=3#run=${await pack(text)}`,
  title: "Mine",
  profile: "K39",
  move: "kill 1",
  step: 3,
  saved: false,
});

test("a run comes out of the file as it went in, with its text in its link", async () => {
  const found = await read(await written([await own()]));
  assert.equal(found.length, 1);
  const [{ title, profile, move, step, url }] = found;
  assert.deepEqual([title, profile, move, step], ["Mine", "K39", "kill 1", 3]);
  assert.equal(await unpack(url.split("#run=")[1]), TEXT);
});

test("a run that is kept elsewhere is asked for, and left out where it is gone", async (context) => {
  const asked = [];
  context.mock.method(globalThis, "fetch", async (url) => {
    asked.push(url);
    return url.includes("gone") ? new Response("", { status: 404 }) : new Response(TEXT);
  });
  const saved = async (run) => ({ ...(await own()), run, url: `/r/${run}` });
  const found = await read(await written([await saved("here"), await saved("gone")]));
  assert.deepEqual(asked, ["/r/here.json", "/r/gone.json"]);
  assert.equal(found.length, 1);
});

test("what is no such file, or damaged, is refused whole", async () => {
  const file = JSON.parse(await written([await own()]));
  const [run] = file.runs;
  for (const wrong of [
    "",
    "[]",
    "null",
    JSON.stringify({ ...file, what: "highwater memory" }),
    JSON.stringify({ ...file, version: 2 }),
    JSON.stringify({ ...file, runs: [run, { ...run, step: -1 }] }),
    JSON.stringify({ ...file, runs: [run, { ...run, text: 3 }] }),
    JSON.stringify({ ...file, runs: [{ ...run, title: "x".repeat(401) }] }),
    JSON.stringify({ ...file, runs: Array(101).fill(run) }),
  ])
    assert.equal(await read(wrong), null, wrong.slice(0, 60));
});
