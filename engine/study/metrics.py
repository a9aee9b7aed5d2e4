"""What is measured of a run: one function a metric, with its name, unit and meaning.

A metric is a whole number or None where the run says nothing (no record was acknowledged).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from engine.model.records import NO_LEADER, PartitionRecord
from engine.sim.simulation import Simulation

SHARE: Final = "share"  # in how many runs was it above zero
PERCENTILES: Final = "percentiles"  # how is it distributed over runs
MEAN: Final = "mean"  # how much on average


class Changes:
    """Counts what becomes of the controller's records while a run is played.

    Records are replaced and never changed in place, so one comparison an event is enough.
    """

    __slots__ = ("_last", "_records", "clean", "expands", "shrinks", "unclean")

    def __init__(self, sim: Simulation) -> None:
        self._records = sim.cluster.controller.records
        self._last = dict(self._records)
        self.shrinks = 0
        self.expands = 0
        self.clean = 0
        self.unclean = 0

    def look(self, _kind: int, _node: int, _what: Any) -> None:
        """After every event: the simulation's listener."""
        for tp, before in self._last.items():
            after = self._records[tp]
            if after is not before:
                self._last[tp] = after
                self._note(before, after)

    def _note(self, before: PartitionRecord, after: PartitionRecord) -> None:
        unclean = False
        if after.leader not in (NO_LEADER, before.leader):
            # As in PartitionChange: unclean is a leader from outside ISR and ELR.
            unclean = after.leader not in before.isr and after.leader not in before.elr
            self.unclean += unclean
            self.clean += not unclean
        self.shrinks += any(member not in after.isr for member in before.isr)
        # The one-member ISR of an unclean leader is no follower that caught up.
        self.expands += not unclean and any(member not in before.isr for member in after.isr)


class Played:
    """A run that was played to its end, and what was counted beside the ledger."""

    __slots__ = ("changes", "latencies", "sim")

    def __init__(self, sim: Simulation, changes: Changes) -> None:
        self.sim = sim
        self.changes = changes
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
    return len(played.sim.ledger.lost)


def acked1_lost(played: Played) -> int:
    """I8 counted: records."""
    return len(played.sim.ledger.lost_single)


def unavailable_ms(played: Played) -> int:
    """A2: summed over partitions."""
    return sum(played.sim.ledger.unavailable_ms)


def produce_p50_ms(played: Played) -> int | None:
    return _rank(played.latencies, 0.5)


def produce_p99_ms(played: Played) -> int | None:
    return _rank(played.latencies, 0.99)


def produce_max_ms(played: Played) -> int | None:
    return _rank(played.latencies, 1.0)


def isr_shrinks(played: Played) -> int:
    return played.changes.shrinks


def isr_expands(played: Played) -> int:
    return played.changes.expands


def elections_clean(played: Played) -> int:
    return played.changes.clean


def elections_unclean(played: Played) -> int:
    return played.changes.unclean


def truncated(played: Played) -> int:
    return played.sim.ledger.truncated


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
    Metric("truncated", "records", "Records that replicas cut off their logs.",
           MEAN, truncated),
)  # fmt: skip
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _LIST}
"""Name -> metric; the events of a run are counted in every row besides."""
