"""Metrics of a run: one function per metric, with its name, unit and meaning.

A metric is a whole number or None where the run says nothing (no record was acknowledged).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final

from engine.sim.simulation import Simulation
from engine.story.verdict import Struck, promised

SHARE: Final = "share"  # in how many runs was it above zero
PERCENTILES: Final = "percentiles"  # how is it distributed over runs
MEAN: Final = "mean"  # how much on average


DISK_FAULTS: Final = {"power": "power", "wipe": "wipe", "disk_fail": "disk"}
"""Kind of a plan -> the fault in which a verdict sees that disks are gone."""


def faults_of(sim: Simulation) -> set[Struck]:
    """Return the faults of disks that the plans of a run dealt, by the broker that they struck."""
    return {
        (DISK_FAULTS[plan.fault.kind], broker)
        for plan in sim.plans
        if plan.fault.kind in DISK_FAULTS
        for _, brokers, _ in plan.strikes
        for broker in brokers
    }


class PlayedRun:
    """A run that was played to its end and measured on the way, with its latencies in order."""

    __slots__ = (
        "behind",
        "committed",
        "copied",
        "duplicates",
        "faults",
        "latencies",
        "ledger",
        "promised",
        "record_bytes",
        "refetched",
        "steps",
    )

    def __init__(self, sim: Simulation) -> None:
        lags = sim.checker.lags
        assert lags is not None, "a run is measured from its start"
        self.copied = sorted(lags.copied)
        self.committed = sorted(lags.committed)
        self.behind = lags.behind
        self.refetched = lags.refetched
        self.record_bytes = int(sim.configs.values["record_bytes"])
        self.steps = sim.events
        self.faults = sum(len(plan.strikes) for plan in sim.plans)
        self.duplicates = sim.checker.counts.get("I12", 0)
        self.ledger = sim.ledger
        self.promised = len(promised(sim, faults_of(sim)))
        self.latencies = sorted(sim.ledger.latencies())


@dataclass(frozen=True)
class Metric:
    """One number of a run: its title on pages, and how the runs of a batch are put together.

    `unit` is a word of the catalogue.
    """

    name: str
    unit: str
    title: str
    meaning: str
    summary: str
    of: Callable[[PlayedRun], int | None]


def acked_lost(played: PlayedRun) -> int:
    """Count the records of I7."""
    return len(played.ledger.lost)


def promised_lost(played: PlayedRun) -> int:
    """Count the records of the verdict "lost": of I7, without those that nothing promised."""
    return played.promised


def committed_lost(played: PlayedRun) -> int:
    """Count the records of I6."""
    return played.ledger.committed_lost


def diverged(played: PlayedRun) -> int:
    """Count the offsets of I5, each once, however many pairs of replicas differ there."""
    return len(played.ledger.diverged)


def acked1_lost(played: PlayedRun) -> int:
    """Count the records of I8."""
    return len(played.ledger.lost_single)


def unavailable_ms(played: PlayedRun) -> int:
    """Sum A2 over partitions."""
    return sum(played.ledger.unavailable_ms)


def recover_ms(played: PlayedRun) -> int:
    """Return the longest time to recover of all partitions."""
    return max((outage.longest_ms for outage in played.ledger.unwritable), default=0)


def leaderless_ms(played: PlayedRun) -> int:
    """Sum A1 over partitions."""
    return sum(outage.total_ms for outage in played.ledger.leaderless)


def failover_ms(played: PlayedRun) -> int | None:
    """Return the longest time without an active controller, None where there always was one."""
    return played.ledger.uncontrolled.longest_ms or None


def duplicates(played: PlayedRun) -> int:
    """Count the duplicates of I12."""
    return played.duplicates


def produce_p50_ms(played: PlayedRun) -> int | None:
    return _rank(played.latencies, 0.5)


def produce_p99_ms(played: PlayedRun) -> int | None:
    return _rank(played.latencies, 0.99)


def produce_max_ms(played: PlayedRun) -> int | None:
    return _rank(played.latencies, 1.0)


def replication_p50_ms(played: PlayedRun) -> int | None:
    return _rank(played.copied, 0.5)


def replication_p99_ms(played: PlayedRun) -> int | None:
    return _rank(played.copied, 0.99)


def replication_max_ms(played: PlayedRun) -> int | None:
    return _rank(played.copied, 1.0)


def replication_behind(played: PlayedRun) -> int:
    return played.behind


def hw_p50_ms(played: PlayedRun) -> int | None:
    return _rank(played.committed, 0.5)


def hw_p99_ms(played: PlayedRun) -> int | None:
    return _rank(played.committed, 0.99)


def hw_max_ms(played: PlayedRun) -> int | None:
    return _rank(played.committed, 1.0)


def refetched_bytes(played: PlayedRun) -> int:
    """Return the refetched bytes; every record has one size, `record_bytes`."""
    return played.refetched * played.record_bytes


def isr_shrinks(played: PlayedRun) -> int:
    return played.ledger.isr_shrinks


def isr_expands(played: PlayedRun) -> int:
    return played.ledger.isr_expands


def elections_clean(played: PlayedRun) -> int:
    return played.ledger.elections_clean


def elections_unclean(played: PlayedRun) -> int:
    return played.ledger.elections_unclean


def elections_last_known(played: PlayedRun) -> int:
    return played.ledger.elections_last_known


def truncated(played: PlayedRun) -> int:
    return played.ledger.truncated


def faults(played: PlayedRun) -> int:
    return played.faults


def steps(played: PlayedRun) -> int:
    return played.steps


def _rank(ordered: list[int], share: float) -> int | None:
    """Return the smallest value with at least `share` of all at or below it."""
    return ordered[max(1, ceil(share * len(ordered))) - 1] if ordered else None


_LIST: Final = (
    Metric("acked_lost", "records", "Acknowledged records lost (acks=all)",
           "Records acknowledged with acks=all that are gone.",
           SHARE, acked_lost),
    Metric("promised_lost", "records", "Promised records lost",
           "Records acknowledged with acks=all that are gone, though every election of their "
           "partition was clean and not every disk of it failed.",
           SHARE, promised_lost),
    Metric("committed_lost", "records", "Committed records lost",
           "Committed records that a new leader did not have (I6).",
           SHARE, committed_lost),
    Metric("diverged", "offsets", "Offsets that differed below both high watermarks",
           "Offsets at which in-sync replicas differed below both high watermarks (I5).",
           SHARE, diverged),
    Metric("acked1_lost", "records", "Acknowledged records lost (acks=1)",
           "Records acknowledged with acks=1 that are gone.",
           SHARE, acked1_lost),
    Metric("unavailable_ms", "ms", "Time without a leader that accepts acks=all",
           "Time without a leader that accepts acks=all, in a run.",
           PERCENTILES, unavailable_ms),
    Metric("recover_ms", "ms", "Longest time until acks=all was accepted again",
           "The longest time in a run until acks=all was accepted again.",
           PERCENTILES, recover_ms),
    Metric("leaderless_ms", "ms", "Time without a leader that accepts acks=1",
           "Time without a leader that accepts acks=1, in a run.",
           PERCENTILES, leaderless_ms),
    Metric("failover_ms", "ms", "Longest time without an active controller",
           "The longest time in a run without an active controller.",
           PERCENTILES, failover_ms),
    Metric("duplicates", "records", "Duplicates stored by retries",
           "Records that a retry stored a second time.",
           SHARE, duplicates),
    Metric("produce_p50_ms", "ms", "Produce latency, median of the run",
           "Half of a run's acknowledged produces took at most this.",
           PERCENTILES, produce_p50_ms),
    Metric("produce_p99_ms", "ms", "Produce latency, p99 of the run",
           "99 % of a run's acknowledged produces took at most this.",
           PERCENTILES, produce_p99_ms),
    Metric("produce_max_ms", "ms", "Produce latency, longest of the run",
           "The longest acknowledged produce of a run.",
           PERCENTILES, produce_max_ms),
    Metric("replication_p50_ms", "ms", "Replication lag, median of the run",
           "Half of a run's records were at every in-sync replica within this from their append "
           "at the leader.", PERCENTILES, replication_p50_ms),
    Metric("replication_p99_ms", "ms", "Replication lag, p99 of the run",
           "99 % of a run's records were at every in-sync replica within this from their append "
           "at the leader.", PERCENTILES, replication_p99_ms),
    Metric("replication_max_ms", "ms", "Replication lag, longest of the run",
           "The longest from a record's append at the leader until every in-sync replica had it; "
           "records that never got so far are not counted.", PERCENTILES, replication_max_ms),
    Metric("replication_behind", "records", "Most records an in-sync replica lacked",
           "The most records that the slowest in-sync replica lacked.",
           PERCENTILES, replication_behind),
    Metric("hw_p50_ms", "ms", "High watermark lag, median of the run",
           "Half of a run's records were below the leader's high watermark within this from their "
           "append.", PERCENTILES, hw_p50_ms),
    Metric("hw_p99_ms", "ms", "High watermark lag, p99 of the run",
           "99 % of a run's records were below the leader's high watermark within this from their "
           "append.", PERCENTILES, hw_p99_ms),
    Metric("hw_max_ms", "ms", "High watermark lag, longest of the run",
           "The longest from a record's append until the leader's high watermark was past it; "
           "records that never got so far are not counted.", PERCENTILES, hw_max_ms),
    Metric("refetched_bytes", "bytes", "Bytes fetched again",
           "Bytes that followers fetched though they had held those offsets before they were cut, "
           "lost or deleted; every record has record_bytes.", MEAN, refetched_bytes),
    Metric("isr_shrinks", "changes", "ISR shrinks",
           "Times the controller took members out of an ISR.",
           MEAN, isr_shrinks),
    Metric("isr_expands", "changes", "ISR expands",
           "Times a follower that caught up joined an ISR.",
           MEAN, isr_expands),
    Metric("elections_clean", "elections", "Clean elections",
           "New leaders from the ISR or the ELR.",
           MEAN, elections_clean),
    Metric("elections_unclean", "elections", "Unclean elections",
           "New leaders from outside ISR and ELR.",
           SHARE, elections_unclean),
    Metric("elections_last_known", "elections", "Elections of the last known leader",
           "New leaders that led last before ISR and ELR became empty (KIP-966); no setting has to "
           "allow it.", SHARE, elections_last_known),
    Metric("faults", "faults", "Faults that struck",
           "Faults of the plan that struck, each broker or rack by itself.",
           MEAN, faults),
    Metric("truncated", "records", "Records truncated", "Records that replicas cut off their logs.",
           MEAN, truncated),
    Metric("steps", "steps", "Steps", "Steps of a run, as the animator counts them.", MEAN, steps),
)  # fmt: skip
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _LIST}
"""Name -> metric.  A row of an older batch lacks those that came later."""
