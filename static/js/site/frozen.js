// Runs of the library that lie in the folder: facts and steps, played when the site was built.

async function unpacked(response) {
  const bytes = new Uint8Array(await response.arrayBuffer());
  // A host may have undone the compression itself.
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return JSON.parse(new TextDecoder().decode(bytes));
  const stream = new Response(bytes).body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

export class Frozen {
  /** @param {string} root @param {string} lang */
  constructor(root, lang) {
    this.root = root;
    this.lang = lang;
    this.read = new Map();
    this.list = null;
  }

  async #file(name) {
    const response = await fetch(`${this.root}runs/${name}.bin`);
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    return unpacked(response);
  }

  /** Digests of all frozen runs. */
  async #digests() {
    this.list ??= fetch(`${this.root}runs/index.json`).then((answer) => answer.json());
    return new Set(await this.list);
  }

  /** {run, text, facts, steps} of a run, or null where it is not frozen. */
  run(digest, sure = false) {
    if (!this.read.has(digest)) this.read.set(digest, this.#run(digest, sure));
    return this.read.get(digest);
  }

  async #run(digest, sure) {
    try {
      if (!sure && !(await this.#digests()).has(digest)) return null;
      const [told, steps] = await Promise.all([
        this.#file(`${digest}.${this.lang}`),
        this.#file(digest),
      ]);
      return { run: digest, ...told, steps };
    } catch {
      this.read.delete(digest); // offline, perhaps: asked for again
      return null;
    }
  }
}

/** As `around` of a replay: from before a step on, some steps beyond it. */
export function opened(found, { step = 0, ahead = 8, have = -1 }) {
  const at = Math.min(step, found.facts.total);
  const first = have >= at ? have + 1 : Math.max(0, at - 1);
  const most = have >= at ? ahead : at - first + Math.max(1, ahead);
  const { run, text, facts, steps } = found;
  return { ok: true, run, text, facts, first, steps: steps.slice(first, first + most) };
}

/** The answers to "play" and "seek". */
export function part(found, first, count) {
  const { run, facts, steps } = found;
  return { ok: true, run, first, total: facts.total, steps: steps.slice(first, first + count) };
}
