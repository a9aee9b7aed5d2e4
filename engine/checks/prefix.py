"""Comparison of a log with what was committed, and INV-13: an ISR member has the leader's log."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from engine.checks.ledger import Acked
from engine.model.cluster import Cluster
from engine.model.log import Batch, Log
from engine.model.phrases import phrase
from engine.model.records import Ids
from engine.model.state import FOLLOWER, Replica


def unlike_prefix(cluster: Cluster, leader: Replica, members: Ids) -> str:
    """Return why an in-sync follower lacks records its leader counts it for, or "".

    By induction: the record just before its fetch offset must be the same; INV-12 has the rest.
    """
    mine = leader.log
    for member in members:
        remote = leader.remote.get(member)
        if remote is None:
            continue
        follower = cluster.brokers[member].replicas.get(leader.tp)
        if (
            follower is None
            or follower.role != FOLLOWER
            or follower.leader_epoch != leader.leader_epoch
        ):
            continue
        why = _unlike(mine, follower.log, remote.leo)
        if why:
            name, peer = cluster.brokers[leader.broker].name, cluster.brokers[member].name
            return phrase(
                "broker {0} counts broker {1} up to {2}, which {3}", name, peer, remote.leo, why
            )
    return ""


def _unlike(mine: Log, theirs: Log, offset: int) -> str:
    if theirs.leo < offset:
        return phrase("ends at {0}", theirs.leo)
    last = offset - 1
    if last < mine.log_start or last < theirs.log_start or offset > mine.leo:
        return ""
    at, there = mine.index_of(last), theirs.index_of(last)
    if at == len(mine.batches):
        return ""
    ours = mine.batches[at]
    if there == len(theirs.batches):
        return phrase("has nothing for {0}", repr(ours))
    its = theirs.batches[there]
    return "" if ours.same(its) else phrase("has {0} for {1}", repr(its), repr(ours))


def is_just(log: Log, known: dict[int, Batch], start: int, upto: int) -> bool:
    """Check whether [start, upto) is just what is known by its base, as all its holders agree."""
    batches = log.batches
    for at in range(log.index_of(start), len(batches)):
        batch = batches[at]
        if batch.base >= upto:
            return True
        if known.get(batch.base) is not batch:
            return False
    return True


def holds(log: Log, batch: Batch) -> bool:
    """Check whether this very batch is in the log, or deleted from its start by retention."""
    if batch.end <= log.log_start:
        return True
    at = log.index_of(batch.base)
    return at < len(log.batches) and log.batches[at].same(batch)


def has_values(log: Log, base: int, values: tuple[str, ...]) -> bool:
    """Check whether these records are at this offset."""
    at = log.index_of(base)
    return at < len(log.batches) and log.batches[at].values == values


def missing_from(log: Log, batches: Iterable[Batch]) -> list[Batch]:
    """Return the batches that the log does not hold: one look each, if they come in its order."""
    found: list[Batch] = []
    mine, at = log.batches, 0
    for batch in batches:
        if at < len(mine) and mine[at] is batch:
            at += 1
            continue
        if not holds(log, batch):
            found.append(batch)
        at = log.index_of(batch.base) + 1
    return found


def not_in_place(log: Log, every: list[Acked]) -> list[Acked]:
    """Return the acknowledged batches that are not at their offset, likewise."""
    found: list[Acked] = []
    mine, at = log.batches, 0
    for acked in every:
        if at < len(mine) and mine[at].base == acked.base and mine[at].values == acked.values:
            at += 1
            continue
        if not has_values(log, acked.base, acked.values):
            found.append(acked)
        at = log.index_of(acked.base) + 1
    return found


def differing(mine: Log, theirs: Log, start: int, end: int) -> list[int]:
    """Return the offsets in [start, end) at which the other log holds another record, or none."""
    found: list[int] = []
    for batch in mine.batches[mine.index_of(start) : bisect_left(mine.bases, end)]:
        if not holds(theirs, batch):
            found += range(max(start, batch.base), min(end, batch.end))
    return found
