"""Statistics of counts: intervals, rare events, paired comparison, percentiles.

Pure functions.  Shares are numbers from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.batch import intervals, wire
from app.batch.intervals import ALPHA, ONCE, Look

RULE_OF_THREE = 3
EXACT_UP_TO = 2000
UNITS = {"percent": 100, "million": 1_000_000}
PERCENT_FROM = 0.001
"""Rarer than one in a thousand is said per million."""

ENDS_KEPT = 16_384
"""Intervals of counts that are remembered."""

THIN = "\u202f"
"""Narrow space that does not break: between the thousands of a number."""


def weighted_interval(
    hits: int, total: float, squares: float, n: int, heaviest: float, look: Look = ONCE
) -> wire.Count:
    """Return a share estimated from runs that count differently, as `interval` sends it.

    `total` is the sum of the weights of the `hits`, `squares` that of their squares, `heaviest`
    the largest weight of a run in which a fault struck (0 if none did: then one is taken): a hit
    that was not seen may be as heavy, and the high end counts one.  Where all weights are equal,
    the hits are counted as they are.  `effective` is how many equal runs would know as much.
    """
    most = heaviest or 1.0
    if not hits or not total or not n:  # also hits so light that they were rounded to nothing
        none = interval(0, n, look)
        bound = min(1.0, rule_of_three(n, look) * most)
        return {**none, "hits": hits, "high": bound, "effective": n}
    # No sum of squares is less, but small ones are lost in rounding.
    squares = max(squares, total * total / hits)
    share = min(1.0, total / n)
    each = total / hits
    if math.isclose(squares, each * total) and most <= each * (1 + 1e-9):
        same = interval(hits, n, look)
        low, high = each * same["low"], each * same["high"]
    else:
        ends = intervals.weighed(total, squares, most, look.alpha_of_look)
        low, high = float(ends[0]) / n, float(ends[1]) / n
    return {
        "hits": hits,
        "n": n,
        "share": share,
        "low": min(share, low),
        "high": min(1.0, max(share, high)),
        "effective": max(1, round(_equal_runs(total, squares, n))),
    }


def _equal_runs(total: float, squares: float, n: int) -> float:
    """Return the number of runs of weight one that would know the share as well.

    Where the share has no variance of its own (all runs hit, or their weights pass n), Kish's
    number: that many equal runs have such a sum and such a sum of squares.
    """
    ratio = total / n
    spread, variance = squares / n - ratio * ratio, ratio * (1 - ratio)
    if variance <= 0 or math.isclose(squares / n, ratio * ratio):
        return total * total / squares
    return variance * n / spread


def precision(n: int, share: float) -> float:
    """Return half the width of the interval that n runs will give to such a share."""
    low, high = intervals.exact(share * n, n)
    return float(high - low) / 2


def difference(
    first: Mapping[str, Any], second: Mapping[str, Any], phi: float = 0.0
) -> tuple[float, float, float]:
    """Return the second share minus the first: (difference, low, high), 95 %.

    Newcombe's way (1998) from the ends of both, which are exact here in place of Wilson's; `phi` is
    how their runs go together where they are paired (his method 10), 0 where they have nothing to
    do with each other.
    """
    a, b = first["share"] or 0.0, second["share"] or 0.0
    low_a, high_a = _ends(first)
    low_b, high_b = _ends(second)
    below = (b - low_b) ** 2 + (high_a - a) ** 2 - 2 * phi * (b - low_b) * (high_a - a)
    above = (high_b - b) ** 2 + (a - low_a) ** 2 - 2 * phi * (high_b - b) * (a - low_a)
    gap = b - a
    return (
        gap,
        max(-1.0, gap - math.sqrt(max(0.0, below))),
        min(1.0, gap + math.sqrt(max(0.0, above))),
    )


def _ends(count: Mapping[str, Any]) -> tuple[float, float]:
    """Return exact ends, also where nothing was seen: the rule of three bounds one side only."""
    if count["hits"] or "effective" in count:
        return count["low"], count["high"]
    low, high = intervals.exact(0, count["n"]) if count["n"] else (0.0, 1.0)
    return float(low), float(high)


def rule_of_three(n: int, look: Look = ONCE) -> float:
    """Return 3/n, the upper bound of a share at 95 % where nothing happened in n runs.

    Of several such sentences at once, (3 + ln of their number)/n.
    """
    return min(1.0, (RULE_OF_THREE + math.log(ALPHA / look.alpha_of_look)) / n) if n else 1.0


def until_first(share: float | None) -> int | None:
    """Return the median number of runs until the first of such a share; None for never."""
    if not share:
        return None
    return max(1, math.ceil(math.log(0.5) / math.log1p(-share))) if share < 1 else 1


def shown_until(count: wire.Count) -> str:
    """Return the same for a table, with the interval's ends; above its low end if none was seen."""
    if not count["n"]:
        return "–"
    middle = until_first(count["share"])
    soonest, latest = until_first(count["high"]), until_first(count["low"])
    if middle is None:
        return f"> {whole(soonest or 1)}"
    return f"{whole(middle)} ({whole(soonest or 1)} – {whole(latest) if latest else '∞'})"


def sign_test(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p of the paired sign test.

    How likely a split at least this uneven is if, of the seeds that differ, either side were as
    likely to be the bad one.
    """
    n, fewer = only_a + only_b, min(only_a, only_b)
    if n == 0 or 2 * fewer == n:
        return 1.0
    if n <= EXACT_UP_TO:
        # Each binomial coefficient from the one before: a page may have a thousand such tests.
        ways = tail = 1
        for k in range(1, fewer + 1):
            ways = ways * (n - k + 1) // k
            tail += ways
        return float(min(1.0, 2 * tail / (1 << n)))
    # The same sum, its terms as logarithms; terms 1e-18 of the largest add nothing.
    top = _log_comb(n, fewer) - n * math.log(2)
    total, term, k = 0.0, 1.0, fewer
    while k >= 0 and term > 1e-18:
        total += term
        term *= k / (n - k + 1)
        k -= 1
    return min(1.0, 2 * math.exp(top) * total)


def _log_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@dataclass(frozen=True)
class Paired:
    """Two profiles over the same seeds of a cell."""

    neither: int
    only_a: int
    only_b: int
    both: int

    @property
    def n(self) -> int:
        return self.neither + self.only_a + self.only_b + self.both

    @property
    def p(self) -> float:
        return sign_test(self.only_a, self.only_b)

    @property
    def phi(self) -> float:
        """Correlation of the two, from -1 to 1, with Newcombe's correction for continuity."""
        first, second = self.only_a + self.both, self.only_b + self.both
        product = first * (self.n - first) * second * (self.n - second)
        together: float = self.neither * self.both - self.only_a * self.only_b
        if together > 0:
            together = max(together - self.n / 2, 0)
        return together / math.sqrt(product) if product else 0.0


def paired(masks: Mapping[int, int], first: int, second: int) -> Paired:
    """Turn counts by mask of violating profiles (bit i: the i-th) into a table of two of them."""
    table = [0, 0, 0, 0]
    for mask, count in masks.items():
        table[(mask >> first & 1) + 2 * (mask >> second & 1)] += count
    return Paired(*table)


def whole(number: float) -> str:
    """Format a number as 100 000."""
    return f"{round(number):,}".replace(",", THIN)


def rate(share: float) -> tuple[str, str]:
    """Return a share in words: (percent or million, the number)."""
    unit = "percent" if share >= PERCENT_FROM else "million"
    return unit, in_unit(share, unit)


def in_unit(share: float, unit: str) -> str:
    """Return a share in percent or per million, with two or three digits that say something."""
    if share in (0, 1):
        return whole(share * UNITS[unit])
    number = share * UNITS[unit]
    if unit == "million":
        return whole(number) if number >= 10 else f"{number:.2g}"
    near = min(number, 100 - number)
    digits = 1 if near >= 1 else min(6, 1 - math.floor(math.log10(near)))
    return f"{number:.{digits}f}"


def shown_share(share: float | None) -> str:
    """Return a share for a table: percent, with enough digits to tell it from 0 and from 100 %."""
    if share is None:
        return "–"
    return f"{in_unit(share, 'percent')} %"


def shown_difference(share: float) -> str:
    """Return a difference of two shares for a table: percentage points with their sign."""
    sign = "" if share == 0 else "\u2212" if share < 0 else "+"
    return f"{sign}{in_unit(abs(share), 'percent')}"


def shown_figure(value: float | None) -> str:
    """Return a measured value for a table."""
    if value is None:
        return "–"
    if value == int(value) or abs(value) >= 100:
        return whole(value)
    return f"{value:.3g}"


def finding(count: wire.Count) -> tuple[str, dict[str, str]]:
    """Return the key of a sentence for a count with its interval, and its numbers.

    Keys: stat.none.percent and .million (nothing happened: the rule of three), stat.none.few (too
    few runs for that rule), stat.some.percent and .million (with the ends of the 95 % interval),
    stat.empty (no runs).
    """
    hits, n = count["hits"], count["n"]
    args = {"hits": whole(hits), "n": whole(n)}
    if n == 0:
        return "stat.empty", args
    if hits == 0:
        if count["high"] >= 1:
            return "stat.none.few", args
        unit, bound = rate(count["high"])
        return f"stat.none.{unit}", args | {"bound": bound}
    unit, args["rate"] = rate(count["share"] or 0.0)
    args["low"], args["high"] = in_unit(count["low"], unit), in_unit(count["high"], unit)
    return f"stat.some.{unit}", args


@lru_cache(maxsize=ENDS_KEPT)
def _worked_out(hits: int, n: int, look: Look) -> tuple[float, float]:
    """Return the cached ends: a page that follows a study asks for them several times a second."""
    if not n:
        return 0.0, 1.0
    if look.growing:
        low, high = intervals.growing(hits, n, look.alpha)
        return float(low), float(high)
    low, high = intervals.exact(hits, n, look.alpha)
    return float(low), float(high) if hits else rule_of_three(n, look)


def interval(hits: int, n: int, look: Look = ONCE) -> wire.Count:
    """Return a count with its interval, as sent to pages: the browser computes no statistics.

    Exact (Clopper and Pearson) where the number of runs was fixed beforehand, a confidence
    sequence where the study may go on; where nothing was seen of a fixed number, the rule of three.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n}")
    low, high = _worked_out(hits, n, look)
    return {"hits": hits, "n": n, "share": hits / n if n else None, "low": low, "high": high}
