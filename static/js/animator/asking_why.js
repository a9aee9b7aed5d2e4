// What a menu of the stage opens on request, in the animator and in the editor.

import { call, component } from "./lazy.js";

export const whyNot = call(() => import("../panels/why.js").then((m) => m.whyNot));
export const whySelected = call(() => import("../panels/why.js").then((m) => m.whySelected));
export const Surgery = component(() => import("../panels/surgery.js").then((m) => m.Surgery));
