// What opens on request in the animator: behind each door of animator/doors.js its module, and the
// style sheet that it alone needs.

export const PARTS = {
  coach: [() => import("../panels/coach.js").then((m) => m.begin)],
  help: [() => import("../panels/help.js").then((m) => m.help)],
  readyHelp: [() => import("../panels/help.js").then((m) => m.ready)],
  share: [() => import("../share/dialog.js").then((m) => m.share), "share"],
  shareClass: [() => import("../share/dialog.js").then((m) => m.shareClass), "share"],
  spacetime: [() => import("../panels/timeview.js").then((m) => m.mount)],
  whyNot: [() => import("../panels/why.js").then((m) => m.whyNot)],
  whySelected: [() => import("../panels/why.js").then((m) => m.whySelected)],
  Checks: [() => import("../panels/checks.js").then((m) => m.Checks)],
  ClassAsk: [() => import("../classroom/ask.js").then((m) => m.ClassAsk), "asked"],
  ClassBar: [() => import("../classroom/bar.js").then((m) => m.ClassBar), "share"],
  Inspect: [() => import("../panels/inspect.js").then((m) => m.Inspect)],
  Lens: [() => import("../lens/panel.js").then((m) => m.Lens), "lens"],
  Log: [() => import("../panels/log.js").then((m) => m.Log)],
  Matrix: [() => import("../panels/matrix.js").then((m) => m.Matrix)],
  Metrics: [() => import("../panels/metrics.js").then((m) => m.Metrics), "metrics"],
  Predicting: [() => import("../panels/predicting.js").then((m) => m.Predicting), "asked"],
  Reality: [() => import("../panels/reality.js").then((m) => m.Reality), "beside"],
  Surgery: [() => import("../panels/surgery.js").then((m) => m.Surgery)],
  TableView: [() => import("../panels/table.js").then((m) => m.TableView)],
};
