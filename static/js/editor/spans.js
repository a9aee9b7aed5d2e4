// Spans of time as people write them: 500, 1.5s, 6h, 30d.  Pure.

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SPAN = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)?$/;

/** "30d" -> ms; what is no span of time is sent as it is, so that the answer can say so. */
export function msOf(text) {
  const found = SPAN.exec(text.trim());
  return found ? Math.round(Number(found[1]) * UNITS[found[2] ?? "ms"]) : text;
}

/** 5400000 -> "90m": the largest unit of which it is a whole number. */
export function spanText(ms) {
  if (typeof ms !== "number" || ms === 0) return ms ?? "";
  const unit = Object.keys(UNITS)
    .reverse()
    .find((one) => ms % UNITS[one] === 0);
  return unit ? `${ms / UNITS[unit]}${unit}` : ms;
}
