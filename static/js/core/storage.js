// Texts that this browser keeps between visits.  A private window may keep none.

/** The text under a key, or `otherwise`.
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {string | T} */
export function stored(key, otherwise) {
  try {
    return localStorage.getItem(key) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Keeps a text; false where this browser keeps nothing or has no room for it.
 * @param {string} key
 * @param {unknown} text */
export function store(key, text) {
  try {
    localStorage.setItem(key, String(text));
    return true;
  } catch {
    return false;
  }
}

/** The value whose JSON is kept under a key; `otherwise` where there is none, or no JSON.
 * @param {string} key
 * @param {any} otherwise */
export function storedValue(key, otherwise) {
  try {
    return JSON.parse(stored(key, "null")) ?? otherwise;
  } catch {
    return otherwise;
  }
}
