// The views of the stage that are scenes: their names, and who draws each.

import { picture } from "./picture.js";
import { tanks } from "./tanks/picture.js";

const DRAWERS = { tanks, lanes: picture };

export const isScene = (view) => view in DRAWERS;

/** Who draws a view; a view that is no scene lies over tanks. */
export const drawer = (view) => DRAWERS[view] ?? tanks;
