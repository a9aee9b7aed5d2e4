"""What is measured of a run: one function a metric, with its name, unit and meaning.

A metric is a whole number or None where the run says nothing (no record was acknowledged).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final

from engine.sim.simulation import Simulation

SHARE: Final = "share"  # in how many runs was it above zero
PERCENTILES: Final = "percentiles"  # how is it distributed over runs
MEAN: Final = "mean"  # how much on average


class Played:
    """A run that was played to its end, with its latencies in order."""

    __slots__ = ("faults", "latencies", "ledger")

    def __init__(self, sim: Simulation) -> None:
        self.faults = sum(len(plan.strikes) for plan in sim.plans)
        self.ledger = sim.ledger
        self.latencies = sorted(sim.ledger.latencies())


@dataclass(frozen=True)
class Metric:
    """`unit` is a word of the catalogue; `summary` says how runs are put together."""

    name: str
    unit: str
    meaning: str
    summary: str
    of: Callable[[Played], int | None]


def acked_lost(played: Played) -> int:
    """I7 counted: records."""
    return len(played.ledger.lost)


def acked1_lost(played: Played) -> int:
    """I8 counted: records."""
    return len(played.ledger.lost_single)


def unavailable_ms(played: Played) -> int:
    """A2: summed over partitions."""
    return sum(played.ledger.unavailable_ms)


def produce_p50_ms(played: Played) -> int | None:
    return _rank(played.latencies, 0.5)


def produce_p99_ms(played: Played) -> int | None:
    return _rank(played.latencies, 0.99)


def produce_max_ms(played: Played) -> int | None:
    return _rank(played.latencies, 1.0)


def isr_shrinks(played: Played) -> int:
    return played.ledger.isr_shrinks


def isr_expands(played: Played) -> int:
    return played.ledger.isr_expands


def elections_clean(played: Played) -> int:
    return played.ledger.elections_clean


def elections_unclean(played: Played) -> int:
    return played.ledger.elections_unclean


def truncated(played: Played) -> int:
    return played.ledger.truncated


def faults(played: Played) -> int:
    return played.faults


def _rank(ordered: list[int], share: float) -> int | None:
    """The smallest value with at least `share` of all at or below it."""
    return ordered[max(1, ceil(share * len(ordered))) - 1] if ordered else None


_LIST: Final = (
    Metric("acked_lost", "records", "Records acknowledged with acks=all that are gone.",
           SHARE, acked_lost),
    Metric("acked1_lost", "records", "Records acknowledged with acks=1 that are gone.",
           SHARE, acked1_lost),
    Metric("unavailable_ms", "ms", "Time without a leader that accepts acks=all, in a run.",
           PERCENTILES, unavailable_ms),
    Metric("produce_p50_ms", "ms", "Half of a run's acknowledged produces took at most this.",
           PERCENTILES, produce_p50_ms),
    Metric("produce_p99_ms", "ms", "99 % of a run's acknowledged produces took at most this.",
           PERCENTILES, produce_p99_ms),
    Metric("produce_max_ms", "ms", "The longest acknowledged produce of a run.",
           PERCENTILES, produce_max_ms),
    Metric("isr_shrinks", "changes", "Times the controller took members out of an ISR.",
           MEAN, isr_shrinks),
    Metric("isr_expands", "changes", "Times a follower that caught up joined an ISR.",
           MEAN, isr_expands),
    Metric("elections_clean", "elections", "New leaders from the ISR or the ELR.",
           MEAN, elections_clean),
    Metric("elections_unclean", "elections", "New leaders from outside ISR and ELR.",
           SHARE, elections_unclean),
    Metric("faults", "faults", "Faults of the plan that struck, each broker or rack by itself.",
           MEAN, faults),
    Metric("truncated", "records", "Records that replicas cut off their logs.",
           MEAN, truncated),
)  # fmt: skip
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _LIST}
"""Name -> metric; the events of a run are counted in every row besides."""
