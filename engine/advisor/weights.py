"""Importance sampling: how much a run counts whose faults struck more often than they would.

A rate with an importance factor f is played f times as fast.  What then happened is weighted by how
likely it would have been at the true rate, over how likely it was (the likelihood ratio); the mean
of weighted outcomes is the true share.  Whole numbers in, a whole number out, decimal arithmetic
between, so that every machine finds the same weight.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Final

from engine.faults.fault_plan import FaultPlan
from engine.sim.simulation import Simulation

NANO: Final = 1_000_000_000
_EXACT: Final = Context(prec=40)


def log_weight_nano(sim: Simulation) -> int:
    """Return the natural logarithm of the run's weight, in billionths; 0 without factors.

    The factors are importance factors.  A future that was redrawn (the move `future`) came at the
    true rates and changes no weight.
    """
    total = Decimal(0)
    for plan in sim.plans:
        if plan.fault.importance != 1.0 and plan.fault.mtbf_ms:
            total = _EXACT.add(total, _log_ratio(plan, sim.now))
    return int(_EXACT.multiply(total, Decimal(NANO)).to_integral_value())


def _log_ratio(plan: FaultPlan, now: int) -> Decimal:
    """Return a wait's log ratio: k whole ms have chance e^(-k/m)(1 - e^(-1/m)).

    One that lasts has e^(-k/m).
    """
    slow = _EXACT.divide(Decimal(1), Decimal(plan.fault.mtbf_ms))
    fast = _EXACT.divide(Decimal(1), Decimal(plan.fault.struck_every_ms))
    waiting = _EXACT.multiply(Decimal(plan.exposure_ms(now)), _EXACT.subtract(fast, slow))
    striking = _EXACT.subtract(_log_strike(slow), _log_strike(fast))
    return _EXACT.add(waiting, _EXACT.multiply(Decimal(plan.draws), striking))


def _log_strike(rate: Decimal) -> Decimal:
    """Return ln(1 - e^-rate)."""
    return _EXACT.subtract(Decimal(1), _EXACT.exp(_EXACT.minus(rate))).ln(_EXACT)
