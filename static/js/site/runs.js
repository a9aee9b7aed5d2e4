// Texts of the runs that this browser has seen, by digest: pages of a site without a server find a
// run of another page here.  Kept in IndexedDB; the oldest give way.

const NAME = "highwater.runs";
const MOST = 2_000;
const fresh = new Map(); // what was learned by this page, should nothing be kept

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let opened = null;
function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () =>
      request.result.createObjectStore("runs", { keyPath: "digest" }).createIndex("at", "at");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

const store = async (mode) => (await open()).transaction("runs", mode).objectStore("runs");

/** Keeps texts by digest.
 * @param {Record<string, string>} texts */
export async function keep(texts) {
  for (const [digest, text] of Object.entries(texts)) fresh.set(digest, text);
  try {
    const runs = await store("readwrite");
    const at = Date.now();
    for (const [digest, text] of Object.entries(texts)) runs.put({ digest, text, at });
    const beyond = (await done(runs.count())) - MOST;
    if (beyond <= 0) return;
    const old = await done(runs.index("at").getAllKeys(null, beyond));
    for (const key of old) runs.delete(key);
  } catch {
    /* a private window: for this page only */
  }
}

/** The text of a run, or null. */
export async function textOf(digest) {
  if (fresh.has(digest)) return fresh.get(digest);
  try {
    return (await done((await store("readonly")).get(digest)))?.text ?? null;
  } catch {
    return null;
  }
}
