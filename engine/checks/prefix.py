"""Comparison of a log with what was committed and acknowledged."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from engine.checks.ledger import Acked
from engine.model.log import Batch, Log


def is_just(log: Log, committed: dict[int, Batch], start: int, upto: int) -> bool:
    """Check whether [start, upto) is just what is known by its base, as all its holders agree."""
    batches = log.batches
    for at in range(log.index_of(start), len(batches)):
        batch = batches[at]
        if batch.base >= upto:
            return True
        if committed.get(batch.base) is not batch:
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
    missing: list[Batch] = []
    mine, at = log.batches, 0
    for batch in batches:
        if at < len(mine) and mine[at] is batch:
            at += 1
            continue
        if not holds(log, batch):
            missing.append(batch)
        at = log.index_of(batch.base) + 1
    return missing


def not_in_place(log: Log, every: list[Acked]) -> list[Acked]:
    """Return the acknowledged batches that are not at their offset, likewise."""
    misplaced: list[Acked] = []
    mine, at = log.batches, 0
    for acked in every:
        if at < len(mine) and mine[at].base == acked.base and mine[at].values == acked.values:
            at += 1
            continue
        if not has_values(log, acked.base, acked.values):
            misplaced.append(acked)
        at = log.index_of(acked.base) + 1
    return misplaced


def differing(mine: Log, theirs: Log, start: int, end: int) -> list[int]:
    """Return the offsets in [start, end) at which the other log holds another record, or none."""
    offsets: list[int] = []
    for batch in mine.batches[mine.index_of(start) : bisect_left(mine.bases, end)]:
        if not holds(theirs, batch):
            offsets += range(max(start, batch.base), min(end, batch.end))
    return offsets
