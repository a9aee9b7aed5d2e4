// What people read on charts instead of codes.  Pure.

import { kafka, promise } from "../../i18n/words.js";

/** What runs did that a study counts under a name. */
export const named = (t, name) =>
  ({ "": t("batch.shares.any"), I7: t("poster.lost"), gone: t("poster.gone") })[name] ??
  promise(t, name);

/** A batch whose Kafkas and causes are told in words; `code` keeps what an address needs. */
export function inWords(batch, t) {
  const named = (one) => ({ ...one, code: one.profile, profile: kafka(t, one.profile) });
  const told = {
    profiles: batch.profiles?.map((one) => kafka(t, one)),
    cells: batch.cells?.map(named),
    metrics: batch.metrics?.map((one) => ({ ...one, cells: one.cells.map(named) })),
    causes: batch.causes?.map((one) => ({
      ...named(one),
      invariant: promise(t, one.invariant),
      rule: one.called ?? one.rule,
    })),
  };
  return { ...batch, ...Object.fromEntries(Object.entries(told).filter(([, some]) => some)) };
}
