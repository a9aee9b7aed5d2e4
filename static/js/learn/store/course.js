// How far this browser has come in the course: {slug: [scenes that were done]}.

export const KEY = "highwater.course";

export function progress() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** Notes that a scene was seen, or its question answered. */
export function noteScene(slug, scene) {
  const all = progress();
  all[slug] = [...new Set([...(all[slug] ?? []), scene])];
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // Nothing is kept; the course works all the same.
  }
  return all;
}
