// The bar of a page without a server: how far the engine is, and that a new version is there.

const MB = 1_000_000;

export class Bar {
  /** @param {(key: string, args?: object) => string} t */
  constructor(t) {
    this.t = t;
    this.wanted = false; // is a question waiting for the engine?
    this.box = Object.assign(document.createElement("div"), { className: "sitebar", hidden: true });
    this.box.setAttribute("role", "status");
    document.body.append(this.box);
  }

  /** @param {import("./engine.js").Progress} progress */
  show({ loaded, total, ready, failed }) {
    if (failed) this.#say([this.t(failed)], true);
    else if (ready) this.box.hidden = true;
    else {
      const bar = Object.assign(document.createElement("progress"), {
        max: total,
        value: Math.min(loaded, total),
      });
      const figures = { loaded: (loaded / MB).toFixed(1), total: (total / MB).toFixed(1) };
      const words = loaded < total ? this.t("folder.loading", figures) : this.t("folder.starting");
      bar.setAttribute("aria-label", words);
      this.#say([bar, words]);
    }
  }

  /** Offers a new version, which a click takes. */
  offer(take) {
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      className: "btn",
      textContent: this.t("folder.new.take"),
      onclick: take,
    });
    this.#say([this.t("folder.new"), button]);
  }

  #say(parts, bad = false) {
    this.box.replaceChildren(...parts);
    this.box.classList.toggle("bad", bad);
    this.box.hidden = false;
  }
}
