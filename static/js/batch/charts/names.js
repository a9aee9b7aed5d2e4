// Names on charts in place of codes.  Pure.

import { kafka, promise } from "../../i18n/words.js";

/** The name of what a study counts: a broken promise, lost or gone records, any of them. */
export const named = (t, name) =>
  ({ "": t("batch.shares.any"), I7: t("poster.lost"), gone: t("poster.gone") })[name] ??
  promise(t, name);

/** A batch whose Kafkas and causes are told in words; `code` keeps what an address needs. */
export function inWords(batch, t) {
  const withKafka = (one) => ({ ...one, code: one.profile, profile: kafka(t, one.profile) });
  const told = {
    profiles: batch.profiles?.map((one) => kafka(t, one)),
    cells: batch.cells?.map(withKafka),
    metrics: batch.metrics?.map((one) => ({ ...one, cells: one.cells.map(withKafka) })),
    causes: batch.causes?.map((one) => ({
      ...withKafka(one),
      invariant: promise(t, one.invariant),
      rule: one.called ?? one.rule,
    })),
  };
  return { ...batch, ...Object.fromEntries(Object.entries(told).filter(([, some]) => some)) };
}
