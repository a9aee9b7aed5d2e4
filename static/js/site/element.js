// <highwater-run scenario="R20" kafka="0.10.2.2" step="31" controls>: a run in a foreign page.
// The run is drawn in a frame of the site that this script comes from.

{
  // A plain script or a module; a module needs a header of hosts that plain ones do not send.
  const OWN = document.currentScript ?? document.querySelector('script[src*="highwater.js"]');
  const ROOT = /** @type {HTMLScriptElement} */ (OWN).src.replace(/[^/]*$/, "");
  const NAMES = ["scenario", "kafka", "run", "step", "to", "controls", "panel", "theme", "height"];
  const HEIGHT = 440; // px until the frame says how high it is

  class HighwaterRun extends HTMLElement {
    static observedAttributes = [...NAMES, "lang", "link"];

    connectedCallback() {
      // A deck of slides may take it out of its page and put it in again.
      if (!this.shadowRoot) this.attachShadow({ mode: "open" });
      // A frame that is ready is told to be as high as its content, and says how high that is.
      this.heard = ({ source, data }) => {
        const frame = this.shadowRoot.querySelector("iframe");
        if (source !== frame?.contentWindow || this.hasAttribute("height")) return;
        if (data?.ready === "highwater") source.postMessage({ fit: true }, "*");
        else if (data?.height > 0) frame.style.height = `${Math.ceil(data.height)}px`;
      };
      addEventListener("message", this.heard);
      this.draw();
    }

    disconnectedCallback() {
      removeEventListener("message", this.heard);
    }

    attributeChangedCallback() {
      if (this.shadowRoot) this.draw();
    }

    /** The address of the frame. */
    get source() {
      const asked = this.lang || document.documentElement.lang || "en";
      const lang = asked.split("-")[0] === "zh" ? "zh/" : "";
      const query = new URLSearchParams();
      for (const name of NAMES.slice(0, -1)) {
        const value = this.getAttribute(name);
        if (name === "controls") query.set(name, value === null ? "none" : value || "play");
        else if (value) query.set(name, value);
      }
      const packed = /#run=.*/.exec(this.getAttribute("link") ?? "")?.[0] ?? "";
      return `${ROOT}${lang}e/?${query}${packed}`;
    }

    draw() {
      const frame = document.createElement("iframe");
      frame.src = this.source;
      frame.loading = "lazy";
      frame.title = this.title || `Highwater: ${this.getAttribute("scenario") ?? "run"}`;
      const height = Number(this.getAttribute("height")) || HEIGHT;
      frame.style.cssText = `border:0;width:100%;height:${height}px;display:block`;
      this.shadowRoot.replaceChildren(frame);
    }
  }

  // A notebook may run the cell with this script twice.
  if (!customElements.get("highwater-run")) customElements.define("highwater-run", HighwaterRun);
}
