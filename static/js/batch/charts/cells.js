// A map over two varied keys: what is in each of its cells, as rows and as a sentence.  Pure.

import { countOf, percent } from "./figures.js";

/** A map over two varied keys: what is in each of its cells; unsure = the interval is wider than
 *  the share. */
export function heatCells(batch, invariant) {
  const [first, second] = batch.varied;
  return batch.cells
    .filter((cell) => cell.n > 0)
    .map((cell) => {
      const { hits, n, share, low, high } = countOf(cell, invariant);
      const query = {
        profile: cell.code ?? cell.profile,
        cell: cell.cell,
        ...(invariant ? { invariant } : {}),
      };
      const url = `?${new URLSearchParams(query)}#failures`;
      return {
        profile: cell.profile,
        x: cell.values[first],
        y: cell.values[second],
        hits,
        n,
        share,
        low,
        high,
        unsure: hits > 0 && high - low > share,
        url,
      };
    });
}

/** The same as a table and as a file: the varied values under their own names. */
export const heatRows = (batch, cells) =>
  cells.map(({ x, y, unsure, ...rest }) => {
    const { profile, ...counts } = rest;
    return { profile, [batch.varied[0]]: x, [batch.varied[1]]: y, ...counts };
  });

export const heatSentence = (batch, cells) =>
  cells
    .map(
      (c) =>
        `${c.profile} ${batch.varied[0]}=${c.x} ${batch.varied[1]}=${c.y}: ${percent(c.share)}`,
    )
    .join("; ");
