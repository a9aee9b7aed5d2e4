// What the animator alone opens on request.

import { call, component, fetched } from "./lazy.js";

const loadDialog = () => import("../share/dialog.js");

export const coach = call(() => import("../panels/coach.js").then((m) => m.begin));
export const help = call(() => import("../panels/help.js").then((m) => m.help));
export const readyHelp = call(() => import("../panels/help.js").then((m) => m.ready));
export const share = call(() => loadDialog().then((m) => m.share), "share");
/** The same, opened where a class is started or ended. */
export const shareClass = call(() => loadDialog().then((m) => m.shareClass), "share");
const fetchShare = () =>
  fetched(loadDialog, "share").catch(() => {
    /* asked for again when it is wanted */
  });
/** Fetches the dialog with the first press: it is there when the connection is not. */
export function fetchShareLater() {
  addEventListener("pointerdown", fetchShare, { once: true });
  addEventListener("keydown", fetchShare, { once: true });
}
export const spacetime = call(() => import("../panels/timeview.js").then((m) => m.mount));

export const Checks = component(() => import("../panels/checks.js").then((m) => m.Checks));
export const ClassAsk = component(
  () => import("../classroom/ask.js").then((m) => m.ClassAsk),
  "asked",
);
export const ClassBar = component(
  () => import("../classroom/bar.js").then((m) => m.ClassBar),
  "share",
);
export const Inspect = component(() => import("../panels/inspect.js").then((m) => m.Inspect));
export const Lens = component(() => import("../lens/panel.js").then((m) => m.Lens), "lens");
const ofLevel = (name) => component(() => import("../panels/level.js").then((m) => m[name]));
export const LevelAsks = ofLevel("LevelAsks");
export const LevelMoves = ofLevel("LevelMoves");
export const LevelTitle = ofLevel("LevelTitle");
export const Log = component(() => import("../panels/log.js").then((m) => m.Log));
export const Matrix = component(() => import("../panels/matrix.js").then((m) => m.Matrix));
export const Metrics = component(
  () => import("../panels/metrics.js").then((m) => m.Metrics),
  "metrics",
);
export const Predicting = component(
  () => import("../panels/predicting.js").then((m) => m.Predicting),
  "asked",
);
export const Reality = component(
  () => import("../panels/reality.js").then((m) => m.Reality),
  "beside",
);
export const MoreSheet = component(() => import("../panels/moresheet.js").then((m) => m.MoreSheet));
export const TableView = component(() => import("../panels/table.js").then((m) => m.TableView));
