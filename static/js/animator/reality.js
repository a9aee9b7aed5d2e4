// Model, real brokers or both: what of the two the stage shows, and which release.

import { computed, signal } from "@preact/signals";

import * as s from "./state.js";

export const SIDES = ["model", "real", "both"];

/** The release that a visitor chose, where several were recorded under one profile. */
export const wanted = signal(/** @type {string | null} */ (null));

/** Releases of which there is a recording of the script that is shown; of another script, or of a
 *  branch, nothing is known. */
export const releases = computed(() => {
  const seen = s.boot.value?.seen;
  const facts = s.facts.value;
  const same = seen && facts?.script && s.boot.value.scenario.digest === facts.scenario.digest;
  return same ? seen.releases : [];
});

/** The release that stands beside the run: one that plays by the profile of the run, or null. */
export const release = computed(() => {
  const profiles = s.boot.value?.seen?.profiles ?? {};
  const fitting = releases.value.filter((one) => profiles[one] === s.facts.value.profile);
  return fitting.find((one) => one === wanted.value) ?? fitting[0] ?? null;
});

/** What is shown: where nothing was recorded, the model. */
export const side = computed(() => (release.value ? s.beside.value : "model"));
