// The service worker of a site: it keeps the folder for a visit without a network, and a new
// version waits until it is taken.

/** @param {{root: string, bar: import("./bar.js").Bar}} how */
export async function keepOffline({ root, bar }) {
  if (!("serviceWorker" in navigator)) return;
  let own;
  try {
    own = await navigator.serviceWorker.register(`${root}sw.js`, {
      scope: root,
      updateViaCache: "none", // hosts let files.js be cached for minutes
    });
  } catch {
    return; // not over https, or storage is not allowed: the site works all the same
  }
  if (!own) return;
  let taken = false;
  const offer = () => {
    if (!own.waiting || !navigator.serviceWorker.controller) return;
    bar.offer(() => {
      taken = true;
      own.waiting.postMessage("take");
    });
  };
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (taken) location.reload();
  });
  own.addEventListener("updatefound", () => {
    own.installing?.addEventListener("statechange", offer);
  });
  offer();
}
