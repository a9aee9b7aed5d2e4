// Exact interval of a share (Clopper and Pearson), without a library.  Pure.

const ALPHA = 0.05;

/** ln Γ(x), Lanczos approximation. */
function logGamma(x) {
  const c = [
    76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155,
    0.001208650973866179, -0.000005395239384953,
  ];
  const t = x + 5.5 - (x + 0.5) * Math.log(x + 5.5);
  const sum = c.reduce((all, one, i) => all + one / (x + i + 1), 1.000000000190015);
  return -t + Math.log((Math.sqrt(2 * Math.PI) * sum) / x);
}

/** Probability of at most k hits in n runs of chance p. */
function atMost(k, n, p) {
  if (p <= 0) return 1;
  if (p >= 1) return k >= n ? 1 : 0;
  let sum = 0;
  for (let i = 0; i <= k; i += 1)
    sum += Math.exp(
      logGamma(n + 1) -
        logGamma(i + 1) -
        logGamma(n - i + 1) +
        i * Math.log(p) +
        (n - i) * Math.log1p(-p),
    );
  return Math.min(1, sum);
}

/** The chance at which a falling function reaches a value. */
function reaches(falling, value) {
  let low = 0;
  let high = 1;
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    if (falling(middle) > value) low = middle;
    else high = middle;
  }
  return low;
}

/** [low, high]: with 95 % confidence the share of `hits` in `n` runs lies between. */
export function exact(hits, n) {
  const low = hits ? reaches((p) => atMost(hits - 1, n, p), 1 - ALPHA / 2) : 0;
  const high = hits < n ? reaches((p) => atMost(hits, n, p), ALPHA / 2) : 1;
  return [low, high];
}
