// Everything of the animator that opens on request, and the module behind each.

import { ahead, door, lazy } from "./lazy.js";

export const coach = door(() => import("../panels/coach.js").then((m) => m.begin));
export const help = door(() => import("../panels/help.js").then((m) => m.help));
export const readyHelp = door(() => import("../panels/help.js").then((m) => m.ready));
export const share = door(() => import("../share/dialog.js").then((m) => m.share), "share");
/** The same, opened where a class is started or ended. */
export const shareClass = door(
  () => import("../share/dialog.js").then((m) => m.shareClass),
  "share",
);
export const fetchShare = ahead(() => import("../share/dialog.js"), "share");
export const spacetime = door(() => import("../panels/timeview.js").then((m) => m.mount));
export const whyNot = door(() => import("../panels/why.js").then((m) => m.whyNot));
export const whySelected = door(() => import("../panels/why.js").then((m) => m.whySelected));

export const Checks = lazy(() => import("../panels/checks.js").then((m) => m.Checks));
export const ClassBar = lazy(
  () => import("../panels/classbar.js").then((m) => m.ClassBar),
  "share",
);
export const Inspect = lazy(() => import("../panels/inspect.js").then((m) => m.Inspect));
export const Log = lazy(() => import("../panels/log.js").then((m) => m.Log));
export const Matrix = lazy(() => import("../panels/matrix.js").then((m) => m.Matrix));
export const Metrics = lazy(() => import("../panels/metrics.js").then((m) => m.Metrics), "metrics");
export const Surgery = lazy(() => import("../panels/surgery.js").then((m) => m.Surgery));
export const TableView = lazy(() => import("../panels/table.js").then((m) => m.TableView));
