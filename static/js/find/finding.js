// A search box that answers while one types; without this script its form leads to a page.

const PAUSE_MS = 180;
/** A server that is busy is asked again, this often. */
const BUSY_MS = 2_000;
const TRIES = 5;

/** Shows the server's answers below a search field, and makes them reachable by arrow keys.
 * @param {HTMLInputElement} field
 * @param {HTMLElement} box where the answers are put
 * @param {{status?: HTMLElement, more?: string, then?: () => void}} [options] */
export function answerWhileTyping(field, box, { status, more = "", then } = {}) {
  let timer = 0;
  let latest = 0;

  async function ask(tries = TRIES) {
    const mine = ++latest;
    const query = field.value.trim();
    if (!query) {
      box.replaceChildren();
      if (status) status.textContent = "";
      then?.();
      return;
    }
    const address = `/hits?q=${encodeURIComponent(query.slice(0, 2000))}${more}${language()}`;
    const response = await fetch(address).catch(() => null);
    if (mine !== latest) return;
    if (!response?.ok) {
      if (tries > 1) timer = setTimeout(() => ask(tries - 1), BUSY_MS);
      return;
    }
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (mine !== latest) return;
    box.replaceChildren(...page.body.childNodes);
    /** @type {HTMLElement | null} */
    const told = box.querySelector("[data-status]");
    if (status) status.textContent = told?.dataset.status ?? "";
    then?.();
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(), PAUSE_MS);
  });
  box.addEventListener("click", (event) => {
    /** @type {HTMLElement | null} */
    const chip = /** @type {HTMLElement} */ (event.target).closest("[data-query]");
    if (!chip) return;
    event.preventDefault();
    field.value = chip.dataset.query;
    field.focus();
    ask();
  });
  for (const part of [field, box]) part.addEventListener("keydown", (event) => walk(event));

  /** @param {KeyboardEvent} event */
  function walk(event) {
    if (event.key === "Escape" && event.target !== field) field.focus();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    /** @type {HTMLElement[]} */
    const stops = [field, ...box.querySelectorAll("a")];
    const next = stops[stops.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  field.addEventListener("paste", handOver);
  if (field.value && !box.hasChildNodes()) ask();
}

/** A paste of several lines opens the box that reads them.
 * @param {ClipboardEvent} event */
function handOver(event) {
  const { form } = /** @type {HTMLInputElement} */ (event.target);
  /** @type {HTMLElement | null} */
  const link = form.querySelector("[data-box]");
  const text = event.clipboardData?.getData("text") ?? "";
  if (!link || !text.trim().includes("\n")) return;
  event.preventDefault();
  sessionStorage.setItem("pasted", text);
  link.click();
}

/** The language that the address asks for: the answers keep it. */
function language() {
  const asked = new URLSearchParams(location.search).get("lang");
  return asked ? `&lang=${encodeURIComponent(asked)}` : "";
}
