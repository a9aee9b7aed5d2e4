"""Metrics of a run, each with its name, unit, meaning and how it is computed.

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


def _rank(ordered: list[int], share: float) -> int | None:
    """Return the smallest value with at least `share` of all at or below it."""
    return ordered[max(1, ceil(share * len(ordered))) - 1] if ordered else None


_LIST: Final = (
    Metric("acked_lost", "records", "Acknowledged records lost (acks=all)",
           "Records acknowledged with acks=all that are gone.",
           SHARE, lambda run: len(run.ledger.lost)),
    Metric("promised_lost", "records", "Promised records lost",
           "Records acknowledged with acks=all that are gone, though every election of their "
           "partition was clean and not every disk of it failed.",
           SHARE, lambda run: run.promised),
    Metric("committed_lost", "records", "Committed records lost",
           "Committed records that a new leader did not have (I6).",
           SHARE, lambda run: run.ledger.committed_lost),
    Metric("diverged", "offsets", "Offsets that differed below both high watermarks",
           "Offsets at which in-sync replicas differed below both high watermarks (I5).",
           SHARE, lambda run: len(run.ledger.diverged)),
    Metric("acked1_lost", "records", "Acknowledged records lost (acks=1)",
           "Records acknowledged with acks=1 that are gone.",
           SHARE, lambda run: len(run.ledger.lost_single)),
    Metric("unavailable_ms", "ms", "Time without a leader that accepts acks=all",
           "Time without a leader that accepts acks=all, in a run.",
           PERCENTILES, lambda run: sum(run.ledger.unavailable_ms)),
    Metric("recover_ms", "ms", "Longest time until acks=all was accepted again",
           "The longest time in a run until acks=all was accepted again.",
           PERCENTILES,
           lambda run: max((outage.longest_ms for outage in run.ledger.unwritable), default=0)),
    Metric("leaderless_ms", "ms", "Time without a leader that accepts acks=1",
           "Time without a leader that accepts acks=1, in a run.",
           PERCENTILES, lambda run: sum(outage.total_ms for outage in run.ledger.leaderless)),
    Metric("failover_ms", "ms", "Longest time without an active controller",
           "The longest time in a run without an active controller.",
           PERCENTILES, lambda run: run.ledger.uncontrolled.longest_ms or None),
    Metric("duplicates", "records", "Duplicates stored by retries",
           "Records that a retry stored a second time.",
           SHARE, lambda run: run.duplicates),
    Metric("produce_p50_ms", "ms", "Produce latency, median of the run",
           "Half of a run's acknowledged produces took at most this.",
           PERCENTILES, lambda run: _rank(run.latencies, 0.5)),
    Metric("produce_p99_ms", "ms", "Produce latency, p99 of the run",
           "99 % of a run's acknowledged produces took at most this.",
           PERCENTILES, lambda run: _rank(run.latencies, 0.99)),
    Metric("produce_max_ms", "ms", "Produce latency, longest of the run",
           "The longest acknowledged produce of a run.",
           PERCENTILES, lambda run: _rank(run.latencies, 1.0)),
    Metric("replication_p50_ms", "ms", "Replication lag, median of the run",
           "Half of a run's records were at every in-sync replica within this from their append "
           "at the leader.", PERCENTILES, lambda run: _rank(run.copied, 0.5)),
    Metric("replication_p99_ms", "ms", "Replication lag, p99 of the run",
           "99 % of a run's records were at every in-sync replica within this from their append "
           "at the leader.", PERCENTILES, lambda run: _rank(run.copied, 0.99)),
    Metric("replication_max_ms", "ms", "Replication lag, longest of the run",
           "The longest from a record's append at the leader until every in-sync replica had it; "
           "records that never got so far are not counted.",
           PERCENTILES, lambda run: _rank(run.copied, 1.0)),
    Metric("replication_behind", "records", "Most records an in-sync replica lacked",
           "The most records that the slowest in-sync replica lacked.",
           PERCENTILES, lambda run: run.behind),
    Metric("hw_p50_ms", "ms", "High watermark lag, median of the run",
           "Half of a run's records were below the leader's high watermark within this from their "
           "append.", PERCENTILES, lambda run: _rank(run.committed, 0.5)),
    Metric("hw_p99_ms", "ms", "High watermark lag, p99 of the run",
           "99 % of a run's records were below the leader's high watermark within this from their "
           "append.", PERCENTILES, lambda run: _rank(run.committed, 0.99)),
    Metric("hw_max_ms", "ms", "High watermark lag, longest of the run",
           "The longest from a record's append until the leader's high watermark was past it; "
           "records that never got so far are not counted.",
           PERCENTILES, lambda run: _rank(run.committed, 1.0)),
    Metric("refetched_bytes", "bytes", "Bytes fetched again",
           "Bytes that followers fetched though they had held those offsets before they were cut, "
           "lost or deleted; every record has record_bytes.",
           MEAN, lambda run: run.refetched * run.record_bytes),
    Metric("isr_shrinks", "changes", "ISR shrinks",
           "Times the controller took members out of an ISR.",
           MEAN, lambda run: run.ledger.isr_shrinks),
    Metric("isr_expands", "changes", "ISR expands",
           "Times a follower that caught up joined an ISR.",
           MEAN, lambda run: run.ledger.isr_expands),
    Metric("elections_clean", "elections", "Clean elections",
           "New leaders from the ISR or the ELR.",
           MEAN, lambda run: run.ledger.elections_clean),
    Metric("elections_unclean", "elections", "Unclean elections",
           "New leaders from outside ISR and ELR.",
           SHARE, lambda run: run.ledger.elections_unclean),
    Metric("elections_last_known", "elections", "Elections of the last known leader",
           "New leaders that led last before ISR and ELR became empty (KIP-966); no setting has to "
           "allow it.", SHARE, lambda run: run.ledger.elections_last_known),
    Metric("faults", "faults", "Faults that struck",
           "Faults of the plan that struck, each broker or rack by itself.",
           MEAN, lambda run: run.faults),
    Metric("truncated", "records", "Records truncated", "Records that replicas cut off their logs.",
           MEAN, lambda run: run.ledger.truncated),
    Metric("steps", "steps", "Steps", "Steps of a run, as the animator counts them.",
           MEAN, lambda run: run.steps),
)  # fmt: skip
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _LIST}
"""Name -> metric.  A row of an older batch lacks those that came later."""
