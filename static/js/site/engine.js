// The engine of this page: a Web Worker with Python in it.  It starts when it is first needed, and
// again when it has died; progress and failures are heard of.

/** @typedef {{loaded: number, total: number, ready: boolean, failed: string | null}} Progress */

const IDLE_MS = 1_500; // after the first picture, the worker is started without being asked
/** Milliseconds without a word of the worker after which it is ended, while a page waits. */
export const SILENT_MS = { loading: 120_000, answering: 30_000 };

export class Engine {
  /** @param {{script: string, files: object, heard: (progress: Progress) => void,
   *   learned: (runs: Record<string, string>) => void}} how */
  constructor({ script, files, heard, learned }) {
    this.script = script;
    this.files = files;
    this.heard = heard;
    this.learned = learned;
    this.worker = null;
    this.waiting = new Map();
    this.number = 0;
    this.deadline = 0;
    this.ready = false;
    /** Texts of runs that the worker of now has been told. */
    this.told = new Set();
  }

  /** Starts the worker while the page rests; with "warm", its pages as well. */
  soon(kind = "start") {
    const begin = () => (kind === "warm" ? this.call("warm", {}).catch(() => null) : this.start());
    setTimeout(() => (window.requestIdleCallback ?? setTimeout)(begin), IDLE_MS);
  }

  start() {
    if (this.worker) return;
    if (typeof WebAssembly !== "object") {
      this.#fail("folder.no_wasm");
      return;
    }
    const worker = new Worker(this.script, { type: "module" });
    this.worker = worker;
    worker.onmessage = ({ data }) => this.#hear(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#died("folder.died");
    };
    worker.postMessage({ kind: "load", files: this.files });
    this.heard({ loaded: 0, total: 1, ready: false, failed: null });
  }

  /** An answer of the worker to one message; rejects where it dies meanwhile. */
  call(kind, args) {
    this.start();
    if (!this.worker) return Promise.reject(new Error("folder.no_wasm"));
    const id = (this.number += 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ kind, id, ...args });
      if (this.waiting.size === 1) this.#watch();
    });
  }

  /** The same; a worker that has died is started again, once, and asked again. */
  async ask(kind, args) {
    try {
      return await this.call(kind, args);
    } catch (problem) {
      if (problem.message !== "folder.died") throw problem;
      return this.call(kind, args);
    }
  }

  /** Ends the worker unless it is heard of in time; the next question starts another. */
  #watch() {
    clearTimeout(this.deadline);
    if (!this.waiting.size) return;
    const most = this.ready ? SILENT_MS.answering : SILENT_MS.loading;
    this.deadline = setTimeout(() => this.#died("folder.silent"), most);
  }

  #hear(data) {
    this.#answered(data);
    this.#watch();
  }

  #answered(data) {
    if (data.kind === "progress") this.heard({ ...data, ready: false, failed: null });
    else if (data.kind === "ready") {
      this.ready = true;
      this.heard({ loaded: 1, total: 1, ready: true, failed: null });
    } else if (data.kind === "failed") this.#died(data.key ?? "folder.died", data.why);
    else {
      const asked = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.runs) this.learned(data.runs);
      asked?.resolve(data.answer);
    }
  }

  #died(key, why = "") {
    clearTimeout(this.deadline);
    this.worker?.terminate();
    this.worker = null;
    this.ready = false;
    this.told.clear();
    if (why) console.warn(why);
    for (const { reject } of this.waiting.values()) reject(new Error(key));
    this.waiting.clear();
    this.#fail(key);
  }

  #fail(key) {
    this.heard({ loaded: 0, total: 1, ready: false, failed: key });
  }
}
