// Which claims this browser has answered, and which of them rightly: {slug: right}.

export const KEY = "highwater.claims";

/** @returns {Record<string, boolean>} */
export function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return found && typeof found === "object" && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

/** The first answer counts: a page that is loaded again changes nothing. */
export function note(slug, right) {
  const known = kept();
  if (Object.hasOwn(known, slug)) return;
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...known, [slug]: right }));
  } catch {
    // A browser that keeps nothing still shows every card.
  }
}

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // There is nothing to forget.
  }
}

/** The first card of the deck without an answer, undefined where all are answered. */
export const next = (known, order) => order.find((slug) => !Object.hasOwn(known, slug));

/** {done, right}: how many cards of the deck have an answer, and a right one. */
export const score = (known, order) => ({
  done: order.filter((slug) => Object.hasOwn(known, slug)).length,
  right: order.filter((slug) => known[slug] === true).length,
});
