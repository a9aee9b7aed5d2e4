// The strip over the rail: of each step that was looked at, the share of its futures that break the
// invariant.  The jump is the point of no return.  A batch of futures brings it, named in the
// address.

import { signal } from "@preact/signals";
import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { HEIGHT, staircase } from "../core/rail.js";

const found = signal(null);

/** Asks for the batch that the address names, once. */
export async function loadFutures() {
  const id = new URLSearchParams(location.search).get("futures") ?? "";
  if (!/^[0-9a-f]{12}$/.test(id)) return;
  const answer = await fetch(`/api/batches/${id}`)
    .then((r) => r.json())
    .catch(() => null);
  if (answer?.ok && answer.futures) found.value = { id, ...answer.futures };
}

/** `place` tells where on the rail a step stands, from 0 to 100. */
export function Futures({ place }) {
  const t = s.t.value;
  const one = found.value;
  if (!one || one.run !== s.run.value || !one.steps.length) return null;
  const line = staircase(one.steps, place, one.broken);
  const first = line[0].split(",")[0];
  const last = line.at(-1).split(",")[0];
  const words = t(`batch.futures.said.${one.said}`, {
    invariant: one.invariant,
    step: one.point,
    held: one.held,
    broken: one.broken,
  });
  return html`<a class="noreturn" href=${`/batch/${one.id}`} title=${words} aria-label=${words}>
    <svg viewBox=${`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points=${`${first},${HEIGHT} ${line.join(" ")} ${last},${HEIGHT}`} /></svg
  ></a>`;
}
