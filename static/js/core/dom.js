// Elements of the page by the type that the template gave them, downloads and words of the page.

/** By its id.
 * @param {string} id */
export const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** A field of a form by its id.
 * @param {string} id */
export const field = (id) => /** @type {HTMLInputElement} */ (at(id));

/** A link by its id.
 * @param {string} id */
export const linkAt = (id) => /** @type {HTMLAnchorElement} */ (at(id));

/** A form by its id.
 * @param {string} id */
export const formAt = (id) => /** @type {HTMLFormElement} */ (at(id));

/** The first that is selected, or null.
 * @param {string} selector
 * @returns {HTMLElement | null} */
export const first = (selector) => document.querySelector(selector);

/** All that are selected.
 * @param {string} selector
 * @param {ParentNode} [within] */
export const every = (selector, within = document) => [
  .../** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(selector)),
];

/** All selected fields of forms.
 * @param {string} selector
 * @param {ParentNode} [within] */
export const fields = (selector, within = document) => [
  .../** @type {NodeListOf<HTMLInputElement>} */ (within.querySelectorAll(selector)),
];

/** The element where something happened.
 * @param {Event} event */
export const where = (event) => /** @type {HTMLElement} */ (event.target);

/** A text as markup has it.
 * @param {unknown} text */
export const escape = (text) =>
  String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** Saves a file of the page's own making under a name.
 * @param {Blob} blob
 * @param {string} name */
export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000); // Safari reads it after the click
}

/** The words of this page in its visitor's language. */
export const pageWords = async () => (await fetch(linkAt("words").href)).json();
