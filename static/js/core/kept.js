// Addresses under which a browser keeps what it was sent.

/** Of a file that scripts ask for themselves.  The import map names it by its bytes; where that is
 *  not heard, in a worker or a test, the plain address does as well. */
export const kept = (address) => import.meta.resolve(address);

/** Of an answer that depends on its address and the program alone: it names the program. */
export function lasting(address) {
  const { edition } = document.documentElement.dataset;
  return edition ? `${address}${address.includes("?") ? "&" : "?"}v=${edition}` : address;
}
