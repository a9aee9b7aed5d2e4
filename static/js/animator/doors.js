// The parts that open on request, by name: who opens one knows no more of it.  The page fills in
// what is behind each (pages/parts.js), since this room knows none of the rooms above it.

import { ahead, door, lazy } from "./lazy.js";

const parts = new Map();

/** Says what is behind the doors: {name: [load, sheet]}, `load` resolving to the part, `sheet`
 *  naming a style sheet that it alone needs. */
export function furnish(all) {
  for (const [name, part] of Object.entries(all)) parts.set(name, part);
}

const behind = (name) => () => {
  if (!parts.has(name)) throw new Error(`No part of this page is behind the door ${name}.`);
  return parts.get(name);
};

// Functions, whose module comes with the first call.
export const coach = door(behind("coach"));
export const help = door(behind("help"));
export const readyHelp = door(behind("readyHelp"));
export const share = door(behind("share"));
/** The same, opened where a class is started or ended. */
export const shareClass = door(behind("shareClass"));
export const fetchShare = ahead(behind("share"));
export const spacetime = door(behind("spacetime"));
export const whyNot = door(behind("whyNot"));
export const whySelected = door(behind("whySelected"));

// Components, whose module comes when they are first drawn.
export const Checks = lazy(behind("Checks"));
export const ClassAsk = lazy(behind("ClassAsk"));
export const ClassBar = lazy(behind("ClassBar"));
export const Inspect = lazy(behind("Inspect"));
export const Lens = lazy(behind("Lens"));
export const Log = lazy(behind("Log"));
export const Matrix = lazy(behind("Matrix"));
export const Metrics = lazy(behind("Metrics"));
export const Predicting = lazy(behind("Predicting"));
export const Reality = lazy(behind("Reality"));
export const Surgery = lazy(behind("Surgery"));
export const TableView = lazy(behind("TableView"));
