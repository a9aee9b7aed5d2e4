// Whether answers may be counted on the server: off until somebody turns it on in this browser.

const KEY = "highwater.counting";

function agreed() {
  try {
    return localStorage.getItem(KEY) === "1";
  } catch {
    return false;
  }
}

/** The switch, as it stands.  A browser that keeps nothing is not asked. */
export function offer(label) {
  if (!label) return;
  const box = label.querySelector("input");
  box.checked = agreed();
  box.addEventListener("change", () => {
    try {
      if (box.checked) localStorage.setItem(KEY, "1");
      else localStorage.removeItem(KEY);
    } catch {
      box.checked = false;
    }
  });
  label.hidden = false;
}

/** Sends which question this was and what was answered; the server judges it again. */
export function count(article) {
  if (!agreed()) return;
  const { s, run, profile, q } = JSON.parse(article.dataset.asked);
  const given = new URLSearchParams(location.search);
  const by = given.get("by");
  const answer = given.has("answer") ? { answer: Number(given.get("answer")) } : { by };
  fetch("/api/answers", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": document.body.dataset.csrf },
    body: JSON.stringify({ s, run, profile, q, ...answer }),
    keepalive: true,
  }).catch(() => {}); // A number that is not counted takes nothing from who answered.
}
