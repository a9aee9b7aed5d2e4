"""Quantiles of log-normal delays, as whole ms in a table that every machine finds the same.

Decimals round as their specification says, so no logarithm of some C library decides.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Final

from engine.scenarios.delays import MOST_DELAY_MS, Delay, LogNormal

STEPS: Final = 1_000
"""Each as likely.  The longest delay is that of the 99.95th percentile."""

_C: Final = Context(prec=24)
_ONE: Final = Decimal(1)
_ABOVE: Final = tuple(map(Decimal, ("2.515517", "0.802853", "0.010328")))
_BELOW: Final = tuple(map(Decimal, ("1", "1.432788", "0.189269", "0.001308")))


def _polynomial(coefficients: tuple[Decimal, ...], x: Decimal) -> Decimal:
    total = Decimal(0)
    for one in reversed(coefficients):
        total = _C.fma(total, x, one)
    return total


def _normal(upper: Decimal) -> Decimal:
    """Return the normal deviate that is exceeded with chance `upper`, at most one half.

    Abramowitz and Stegun 26.2.23: at most 0.00045 off.
    """
    t = _C.sqrt(_C.multiply(Decimal(-2), _C.ln(upper)))
    return _C.subtract(t, _C.divide(_polynomial(_ABOVE, t), _polynomial(_BELOW, t)))


@lru_cache(maxsize=64)
def quantiles(median: int, p99: int) -> tuple[int, ...]:
    """Return the greatest delay in the middle of each of `STEPS` equal shares, in ms."""
    # ln(p99/median) is sigma times the deviate of the 99th percentile.
    spread = _C.divide(_C.ln(_C.divide(Decimal(p99), Decimal(median))), _normal(Decimal("0.01")))
    longer: list[int] = []
    shorter: list[int] = []
    for step in range(STEPS // 2):
        upper = _C.divide(Decimal(2 * step + 1), Decimal(2 * STEPS))
        factor = _C.exp(_C.multiply(spread, _normal(upper)))
        longer.append(_whole(_C.multiply(Decimal(median), factor)))
        shorter.append(_whole(_C.divide(Decimal(median), factor)))
    return (*shorter, *reversed(longer))


def _whole(ms: Decimal) -> int:
    return min(MOST_DELAY_MS, int(ms.quantize(_ONE, rounding=ROUND_HALF_UP, context=_C)))


def choices(delay: Delay) -> tuple[int, int, tuple[int, ...]]:
    """Return (least, most, the equally likely delays or () for any between)."""
    if isinstance(delay, LogNormal):
        table = quantiles(delay.median, delay.p99)
        return table[0], table[-1], table
    return delay[0], delay[1], ()
