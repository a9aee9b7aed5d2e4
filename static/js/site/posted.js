// A form that is sent to a page which the engine renders: the name of the window keeps it over the
// navigation, since storage may be blocked.

const MARK = "highwater.post:";

/** @param {{path: string, body: string, type: string}} sent */
export function keepPosted(sent) {
  window.name = MARK + JSON.stringify(sent);
}

/** The form that was sent to this page, once; null where there is none. */
export function takePosted() {
  if (!window.name.startsWith(MARK)) return null;
  const sent = JSON.parse(window.name.slice(MARK.length));
  window.name = "";
  return sent;
}
