// Opens the share dialog.  It is loaded when it is first asked for: it is no part of a run's first view.

import * as s from "../state.js";

const load = () => import("./dialog.js");

/** Fetches the dialog ahead, so that it is there when the connection is not. */
export const fetchShare = () => load().catch(() => { /* asked for again when it is opened */ });

const open = (how) => () => load().then((dialog) => dialog[how](), () => { s.notice.value = { kind: "warn", text: s.t.value("offline.wait") }; });

export const share = open("share");
/** The same, opened where a class is started or ended. */
export const shareClass = open("shareClass");
