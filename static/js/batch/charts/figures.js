// What charts say, before anything is drawn: figures as text, rows to draw, sentences.  Pure.

/** A share as text: percent with as many digits as it needs. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const p = share * 100;
  if (p === 0 || p === 100) return `${p} %`;
  const near = Math.min(p, 100 - p);
  const digits = near >= 1 ? 1 : Math.min(6, 1 - Math.floor(Math.log10(near)));
  return `${p.toFixed(digits)} %`;
}

/** 12 345 with narrow spaces. */
export const whole = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A duration as people say it. */
export function duration(t, seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return t("batch.time.s", { n: s });
  if (s < 3600) return t("batch.time.m", { m: Math.floor(s / 60), s: s % 60 });
  return t("batch.time.h", { h: Math.floor(s / 3600), m: Math.floor((s % 3600) / 60) });
}

/** Rows of objects as comma-separated values. */
export function csv(rows) {
  if (!rows.length) return "";
  const cell = (v) =>
    /[",\n]/.test(String(v ?? "")) ? `"${String(v).replaceAll('"', '""')}"` : String(v ?? "");
  const names = Object.keys(rows[0]);
  return (
    [names, ...rows.map((row) => names.map((name) => row[name]))]
      .map((line) => line.map(cell).join(","))
      .join("\n") + "\n"
  );
}

const called = (one) => (one.label ? `${one.profile} ${one.label}` : one.profile);

// In the order in which they are told; what a page brings comes sorted by name.
const counted = ({ hits, n, share, low, high }) => ({ hits, n, share, low, high });

export const countOf = (cell, invariant) =>
  invariant ? (cell.broken[invariant] ?? cell.unseen) : cell.violating;

/** Interval dots: one row a profile and cell for the chosen invariant ("" = any). */
export function shareRows(batch, invariant) {
  return batch.cells
    .filter((cell) => cell.n > 0)
    .map((cell) => {
      return { profile: cell.profile, label: cell.label, ...counted(countOf(cell, invariant)) };
    });
}

/** The same of two studies: the chosen invariant in each of their common cells, a row a side. */
export function sideRows(cells, invariant, sides) {
  return cells.flatMap((cell) => {
    const row = cell.rows.find((one) => one.invariant === invariant);
    const label = [cell.profile, cell.a].filter(Boolean).join(" ");
    return row
      ? [row.a, row.b].map((count, i) => ({
          profile: sides[i],
          label,
          ...counted(count),
          under: cell.profile,
          cell: [cell.a, cell.b][i],
        }))
      : [];
  });
}

/** Those rows as a table and as a file. */
export const sideTable = (rows) =>
  rows.map((row) => ({
    study: row.profile,
    profile: row.under,
    cell: row.cell,
    ...counted(row),
  }));

/** Their axis: decades from below the smallest interval to above the largest. */
export function shareDomain(rows) {
  const lows = rows.map((r) => (r.hits ? r.low : r.high / 3)).filter((v) => v > 0);
  const low = Math.max(1e-7, Math.min(1e-2, ...lows));
  const high = Math.max(low * 10, ...rows.map((r) => r.high));
  return [10 ** Math.floor(Math.log10(low)), Math.min(1, 10 ** Math.ceil(Math.log10(high)))];
}

/** What stands at the end of such a row. */
export const shareLabel = (row, t) =>
  row.hits ? percent(row.share) : t("batch.shares.none", { n: whole(row.n) });

export const shareSentence = (rows, t) =>
  rows
    .map(
      (row) => `${called(row)}: ${shareLabel(row, t)} (${percent(row.low)} – ${percent(row.high)})`,
    )
    .join("; ");

/** A distribution: the points of every profile's line in one cell, smallest and largest
 *  included. */
export function curvePoints(metric, label) {
  return metric.cells
    .filter((cell) => cell.n && cell.label === label)
    .flatMap((cell) =>
      [[0, cell.min], ...cell.curve, [1, cell.max]].map(([share, value]) => ({
        profile: cell.profile,
        value,
        share,
      })),
    );
}

/** Marks for an axis of counts or milliseconds: zero and the decades up to the largest. */
export function decades(points) {
  const most = Math.max(1, ...points.map((p) => p.value));
  const found = [0];
  for (let at = 1; at <= most * 1.0001; at *= 10) found.push(at);
  return found;
}

/** The ends of a logarithmic axis: whole decades around all values, from 1 on. */
export function wholeDecades(values) {
  const low = 10 ** Math.floor(Math.log10(Math.max(1, Math.min(...values))));
  return [low, Math.max(low * 10, 10 ** Math.ceil(Math.log10(Math.max(1, ...values))))];
}

/** Whether there is a distribution to draw at all. */
export const varies = (metric) => metric.cells.some((cell) => cell.n && cell.max > cell.min);

export const curveSentence = (metric, label, t) =>
  metric.cells
    .filter((c) => c.n && c.label === label)
    .map(
      (c) =>
        `${c.profile}: ${t("batch.col.p50")} ${whole(c.quantiles[0])}, ` +
        `${t("batch.col.p99")} ${whole(c.quantiles[2])}, ${t("batch.col.max")} ${whole(c.max)}`,
    )
    .join("; ");

/** The upper half of a distribution: percentiles beyond which at least one of the n runs lies. */
export const tailPoints = (metric, label) =>
  metric.cells
    .filter((cell) => cell.n && cell.label === label)
    .flatMap((cell) =>
      cell.curve
        .filter(([share]) => share >= 0.5 && cell.n * (1 - share) > 0.999)
        .map(([share, value]) => ({ profile: cell.profile, n: cell.n, share, value })),
    );

/** p99.9 of 0.999. */
export const percentile = (share) => `p${Number((share * 100).toPrecision(6))}`;

/** What such a chart says first: the worst value at the farthest percentile that was drawn. */
export function tailTitle(points, metric, t) {
  const far = Math.max(...points.map((p) => p.share));
  const worst = points.filter((p) => p.share === far).reduce((a, b) => (b.value > a.value ? b : a));
  return t("batch.tail.says", {
    metric: t(`metric.${metric.name}`),
    share: `${Number((far * 100).toPrecision(6))} %`,
    n: whole(worst.n),
    profile: worst.profile,
    value: whole(worst.value),
  });
}

export const tailSentence = (points, t) =>
  [...new Set(points.map((p) => p.profile))]
    .map(
      (profile) =>
        `${profile}: ${points
          .filter((p) => p.profile === profile)
          .map((p) => `${percentile(p.share)} ${whole(p.value)} ${t("unit.ms")}`)
          .join(", ")}`,
    )
    .join("; ");

export const causeName = ({ invariant, rule }) => (rule ? `${invariant} · ${rule}` : invariant);

export const causeSentence = (rows) =>
  rows.map((one) => `${one.profile} ${causeName(one)}: ${whole(one.runs)}`).join("; ");
