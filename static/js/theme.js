// Runs before the first paint, as a plain script, so that a chosen theme never flashes.
(() => {
  const root = document.documentElement;
  const ORDER = ["auto", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("theme") ?? "auto"; } catch { return "auto"; } };
  const apply = (theme) => { theme === "auto" ? root.removeAttribute("data-theme") : root.setAttribute("data-theme", theme); };
  apply(stored());
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const label = () => {
      const text = button.dataset[stored()];
      button.setAttribute("aria-label", text);
      button.title = text;
    };
    label();
    button.addEventListener("click", () => {
      const next = ORDER[(ORDER.indexOf(stored()) + 1) % ORDER.length];
      try { localStorage.setItem("theme", next); } catch { /* a private window: the choice lasts for this page */ }
      apply(next);
      label();
    });
  });
})();
