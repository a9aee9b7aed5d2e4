// Heartbeats and metadata fetches: dots on their way, where one asked to see them.  Pure.

import { along } from "../fates.js";
import { circle } from "../node.js";
import { anchor } from "./layout.js";
import { progress } from "./speech.js";

const MOST = 60;

export const beats = (geo, view, { layers }) =>
  layers.has("heartbeats") ? (view.beats ?? []).slice(0, MOST).map((m) => dot(geo, view, m)) : [];

function dot(geo, view, m) {
  const [from, to] = [m.from, m.to].map((end) => anchor(geo, end));
  const [x, y] = along(from, to, progress(m, view.t), 10);
  return circle(`beat-${m.id}`, Math.round(x), Math.round(y), 3, "beat", {
    "data-id": `beat:${m.id}`,
  });
}
