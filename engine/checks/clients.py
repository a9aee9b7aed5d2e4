"""Checks of responses to clients against the state: each returns what is wrong, or ""."""

from __future__ import annotations

from engine.checks.ledger import Acked, Ledger
from engine.model.cluster import Cluster
from engine.model.log import Batch, Log
from engine.model.phrases import phrase


def contradicted(ledger: Ledger, tp: int, batches: list[Batch]) -> str:
    """I9, INV-24.  Check whether another record was read at one of these offsets before."""
    seen = ledger.seen[tp]
    why = ""
    for batch in batches:
        before = seen.setdefault(batch.base, batch)
        if not before.same(batch):
            why = why or phrase("a consumer read {0} and later {1}", repr(before), repr(batch))
    return why


def uncommitted(hw: int, batches: list[Batch]) -> str:
    """INV-23.  Check whether these reach past the serving replica's high watermark."""
    last = batches[-1]
    return (
        phrase("a consumer got {0}, and the mark there is {1}", repr(last), hw)
        if last.end > hw
        else ""
    )


def unnoticed(
    cluster: Cluster, ledger: Ledger, client: int, src: int, tp: int, batches: list[Batch]
) -> str:
    """INV-27.  Check whether the consumer read on though what it read last is gone there.

    The replica that served it has both, or has deleted the former from its start.  Else the
    consumer skips or reads again what it does not know of.
    """
    at, before = ledger.read_last.get(client, (tp, batches[0]))
    ledger.read_last[client] = (tp, batches[-1])
    disk = cluster.brokers[src].machine.disks.get(tp)
    if at != tp or disk is None:
        return ""
    log = disk.log
    if before.end <= log.log_start or not _has(log, batches[0]) or _has(log, before):
        return ""
    return phrase(
        "a consumer read {0}, which is gone, and then {1}", repr(before), repr(batches[0])
    )


def _has(log: Log, batch: Batch) -> bool:
    at = log.index_of(batch.base)
    return at < len(log.batches) and log.batches[at].same(batch)


def gone_back(ledger: Ledger, tp: int, latest: int) -> str:
    """INV-25.  Check whether a client was sent a later end of the log before."""
    before = ledger.latest[tp]
    ledger.latest[tp] = max(before, latest)
    return (
        phrase("the latest offset was {0} and is now {1}", before, latest)
        if latest < before
        else ""
    )


def written_twice(log: Log, acked: Acked, since: int) -> bool:
    """I12 of a producer without numbers.  Check whether a resent record is there twice (ms)."""
    for batch in reversed(log.batches):
        if batch.time < since:
            break
        if batch.values == acked.values and batch.base != acked.base:
            return True
    return False
