// The engine of a page without a server: a worker that falls silent is ended, and the page is told.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Engine, SILENT_MS } from "../../static/js/site/engine.js";

class SilentWorker {
  static all = [];
  constructor() {
    SilentWorker.all.push(this);
  }
  postMessage() {}
  terminate() {
    this.ended = true;
  }
}

test("a worker that gives no answer is ended, and the next question starts another", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.Worker = SilentWorker;
  const said = [];
  const heard = (progress) => said.push(progress.failed);
  const engine = new Engine({ script: "", files: {}, heard, learned: () => null });
  const answer = engine.ask("ask", {});
  SilentWorker.all[0].onmessage({ data: { kind: "ready" } });
  t.mock.timers.tick(SILENT_MS.answering - 1);
  assert.equal(SilentWorker.all[0].ended, undefined);
  t.mock.timers.tick(1);
  await assert.rejects(answer, /folder\.silent/);
  assert.ok(SilentWorker.all[0].ended);
  assert.equal(said.at(-1), "folder.silent");
  engine.ask("ask", {}).catch(() => null);
  assert.equal(SilentWorker.all.length, 2);
});

test("an answer in time keeps the worker", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.Worker = SilentWorker;
  const engine = new Engine({ script: "", files: {}, heard: () => null, learned: () => null });
  const answer = engine.ask("ask", {});
  const worker = SilentWorker.all.at(-1);
  worker.onmessage({ data: { kind: "answer", id: 1, answer: 7 } });
  assert.equal(await answer, 7);
  t.mock.timers.tick(10 * SILENT_MS.loading);
  assert.equal(worker.ended, undefined);
});
