// The live channel of a page without a server: steps of a frozen run at once, all else from the
// engine.  It looks like the channel of net/channel.js.

import { opened, part } from "./frozen.js";

const PAGE = 256; // steps of a frozen run sent at once: they are here already

function fromFile(found, event, { step, count = 8 }) {
  if (event === "play") return part(found, step + 1, Math.max(count, PAGE));
  if (event === "seek") return part(found, Math.max(0, step - 2), PAGE);
  return null;
}

export class Channel {
  /** @param {{engine: import("./engine.js").Engine, frozen: import("./frozen.js").Frozen,
   *   textOf: (digest: string) => Promise<string | null>, lang: string,
   *   runOf: (scenario: string, profile: string) => string | null,
   *   refuse: (answer: object) => Error, said: (key: string) => string}} how */
  constructor({ engine, frozen, textOf, lang, runOf, refuse, said }) {
    this.engine = engine;
    this.frozen = frozen;
    this.textOf = textOf;
    this.lang = lang;
    this.runOf = runOf;
    this.refuse = refuse;
    this.said = said;
    this.connected = true;
    this.mine = new Set(); // runs of which the engine of now knows the text
  }

  on() {
    /* no other page speaks here */
  }

  async ask(event, payload) {
    const answer = await this.#answer(event, payload);
    if (!answer?.ok) throw this.refuse(answer ?? { code: "engine" });
    return answer;
  }

  async #answer(event, payload) {
    if (["watch", "cancel", "join", "lead", "questions", "ask", "asked", "answer"].includes(event))
      return { ok: false, code: "forbidden", sentence: this.said("folder.server") };
    if (event === "open") return this.#open(payload);
    const found = await this.#lying(payload.run);
    const lies = found && fromFile(found, event, payload);
    if (lies) return lies;
    await this.#introduce(payload.run, found);
    return this.#asks(event, payload);
  }

  /** A frozen run, where its file is here or may be. */
  async #lying(digest) {
    return this.mine.has(digest) ? null : this.frozen.run(digest);
  }

  async #open(payload) {
    const { scenario, profile, seed, text } = payload;
    let digest = payload.run;
    if (!text && scenario && !seed) digest = this.runOf(scenario, profile);
    const found = !text && digest ? await this.frozen.run(digest) : null;
    const lies = found && opened(found, payload);
    if (lies) return lies;
    const known = !text && payload.run ? await this.textOf(payload.run) : null;
    const asked = known ? { ...payload, text: known, run: undefined } : payload;
    const answer = await this.#asks("open", asked);
    if (answer.ok) this.#learn(answer.run);
    return answer;
  }

  /** Tells the engine a run that it has not played yet. */
  async #introduce(digest, found) {
    if (this.engine.told.has(digest)) return;
    const text = found?.text ?? (await this.textOf(digest));
    if (!text) return;
    await this.#asks("open", { text, step: 0, ahead: 0 });
    this.engine.told.add(digest);
  }

  #learn(digest) {
    this.engine.told.add(digest);
    this.mine.add(digest);
  }

  async #asks(event, payload) {
    let answer;
    try {
      const request = JSON.stringify(payload);
      answer = await this.engine.ask("ask", { event, request, lang: this.lang });
    } catch (problem) {
      return { ok: false, code: "late", sentence: this.said(problem.message) };
    }
    if (answer.ok && event === "move") this.#learn(answer.run);
    return answer;
  }
}
