// Addresses of our own pages.  A server has them as they are written; in a folder of static files
// `highwaterSite`, which site/page.js makes, knows where each page lies.

/** Where a page is: "/r?step=3" of a server may be "../r/?step=3" of a folder.
 * @param {string} path */
export const placed = (path) => globalThis.highwaterSite?.placed(path) ?? path;

/** The same whole, to be given away.
 * @param {string} path */
export const shared = (path) => new URL(placed(path), location.href).href;

/** Is there no server behind this page? */
export const alone = () => Boolean(globalThis.highwaterSite);
