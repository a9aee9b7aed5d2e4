// Runs before the first paint, as a plain script, so that a chosen theme or text size never
// flashes.
(() => {
  const root = document.documentElement;
  const ORDER = ["auto", "light", "dark"];
  const stored = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const mark = (name, value, usual) => {
    value && value !== usual
      ? root.setAttribute(`data-${name}`, value)
      : root.removeAttribute(`data-${name}`);
  };
  const theme = () => {
    const found = stored("theme");
    return ORDER.includes(found) ? found : "auto";
  };
  const apply = () => {
    mark("theme", theme(), "auto");
    mark("motion", stored("highwater.motion"), "auto");
    mark("text", stored("highwater.text"), "normal");
  };
  apply();
  addEventListener("settings", apply);
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const label = () => {
      const text = button.dataset[theme()];
      button.setAttribute("aria-label", text);
      button.title = text;
    };
    label();
    addEventListener("settings", label);
    button.addEventListener("click", () => {
      const next = ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length];
      try {
        localStorage.setItem("theme", next);
      } catch {
        /* a private window: the choice lasts for this page */
      }
      mark("theme", next, "auto");
      dispatchEvent(new CustomEvent("settings", { detail: { name: "theme", value: next } }));
    });
  });
})();
