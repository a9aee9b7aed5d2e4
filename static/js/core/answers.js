// What this browser remembers of answers: a list of events, oldest first, for whoever studies them.
// An event: {at, run, profile, probe, kind, given, right, ids}; `probe` is stable: kind@step.p.b.

const KEY = "highwater.answers";
const MOST = 2000;

/** All answers that are remembered; [] where nothing is kept. */
export function answers() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/** Remembers one answer and tells the page, as the event "highwater:answer". */
export function answered(one) {
  const event = { at: Date.now(), ...one };
  try {
    localStorage.setItem(KEY, JSON.stringify([...answers(), event].slice(-MOST)));
  } catch {
    // A browser that keeps nothing still hears of it.
  }
  dispatchEvent(new CustomEvent("highwater:answer", { detail: event }));
}
