// How far this browser has come in the course: {slug: [scenes that were done]}.

import { store, storedValue } from "../../core/storage.js";

export const KEY = "highwater.course";

export const progress = () => storedValue(KEY, {});

/** Notes that a scene was seen, or its question answered. */
export function noteScene(slug, scene) {
  const all = progress();
  all[slug] = [...new Set([...(all[slug] ?? []), scene])];
  store(KEY, JSON.stringify(all));
  return all;
}
