"""INV-3 to INV-5 and INV-12: checks of what was appended to a log, and of its epoch cache."""

from __future__ import annotations

from engine.checks.tiered import Reporter
from engine.model.cluster import Cluster
from engine.model.log import Batch, Log
from engine.model.profiles import KIP101
from engine.model.state import LEADER, Replica


def check(
    observer: Reporter, cluster: Cluster, node: int, tp: int, replica: Replica, before: int
) -> None:
    """INV-3, INV-5, INV-12.  Check what was appended."""
    log = replica.log
    at = log.index_of(before)
    if at >= len(log.batches):
        return
    previous = log.batches[at - 1] if at else None
    first = log.batches[at]
    if previous is not None and replica.role != LEADER:
        _check_junction(observer, cluster, node, tp, replica, previous, first)
    if replica.profile.truncation < KIP101:
        return
    epoch = previous.epoch if previous is not None else -1
    for batch in log.batches[at:]:
        if batch.epoch < epoch:
            observer.report(
                "INV-3",
                "{0} has epoch {1} at {2} after epoch {3}",
                observer.name(node),
                batch.epoch,
                batch.base,
                epoch,
            )
        epoch = batch.epoch
        # A log start inside the batch is where the cache begins.
        if log.epochs.epoch_for_offset(max(batch.base, log.log_start)) != epoch:
            observer.report(
                "INV-5", "{0}'s epoch cache misplaces offset {1}", observer.name(node), batch.base
            )
    if previous is None or epoch != previous.epoch:
        check_cache(observer, node, log)


def check_cache(observer: Reporter, node: int, log: Log) -> None:
    """INV-4.  Check the last two entries: entries come and go at the ends only."""
    epochs, starts = log.epochs.epochs, log.epochs.starts
    if not epochs:
        return
    sorted_ = len(epochs) == 1 or (
        epochs[-2] < epochs[-1] and starts[-2] < starts[-1] + (not log.epochs.monotonic)
    )
    if not sorted_ or starts[-1] > log.leo:
        observer.report(
            "INV-4", "{0}'s epoch cache ends {1}", observer.name(node), log.epochs.entries()[-2:]
        )


def _check_junction(
    observer: Reporter,
    cluster: Cluster,
    node: int,
    tp: int,
    replica: Replica,
    previous: Batch,
    first: Batch,
) -> None:
    """INV-12 by induction.  Compare the batch before the first one taken with the leader's.

    It must be the same where both logs have not deleted it.
    """
    leader = cluster.brokers.get(replica.leader)
    disk = leader.machine.disks.get(tp) if leader is not None else None
    if disk is None or previous.end <= disk.log.log_start:
        return
    log = disk.log
    at = log.index_of(first.base)
    if 0 < at < len(log.batches) and log.batches[at] is first:
        theirs = log.batches[at - 1]
        if not theirs.same(previous):
            observer.report(
                "INV-12",
                "{0} has {1} where {2} has {3}",
                observer.name(node),
                repr(previous),
                observer.name(replica.leader),
                repr(theirs),
            )
