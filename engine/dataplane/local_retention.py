"""Local retention of a tiered log (data-plane, R-3; `UnifiedLog.deletableSegments`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.log import Log
from engine.model.profiles import Release
from engine.model.remote_log import RemoteLogTask
from engine.model.state import Replica

ROLLS_SINCE: Final[Release] = (3, 7)
"""Retention rolls a full active segment, and deletes what a raised log start has passed."""

Breach = Callable[[int, int], bool]
"""(base, end) of a segment -> does it breach the retention?"""


def is_tiered(broker: Process, replica: Replica) -> bool:
    """Check whether the segments of a replica are copied to remote storage."""
    return replica.configs.remote_storage and broker.machine.store is not None


def task_of(broker: Process, tp: int) -> RemoteLogTask:
    """Return the broker's memory of a partition, a new one at first."""
    task = broker.remote_tasks.get(tp)
    if task is None:
        task = broker.remote_tasks[tp] = RemoteLogTask()
    return task


def delete_local(broker: Process, replica: Replica, out: Effects) -> None:
    """R-3.  Run one retention check of a replica whose segments are copied.

    In the order of L-8, with local.retention.*: a segment goes once the high watermark has passed
    it and it is in remote storage (`UnifiedLog.deletableSegments`).
    """
    log, configs = replica.log, replica.configs
    before = max(log.local_start, log.segments[0])
    highest = task_of(broker, replica.tp).highest
    now = out.now
    log.drop_expired_remote()

    def passed(base: int, end: int) -> bool:
        return base != log.segments[-1] and end <= max(log.log_start, before)

    def old(base: int, end: int) -> bool:
        times = [batch.time for batch in log.batches if base <= batch.base < end]
        return now - max(times, default=0) > configs.local_retention_ms

    excess = 0

    def large(base: int, end: int) -> bool:
        nonlocal excess
        if excess < end - base:
            return False
        excess -= end - base
        return True

    rolls = replica.profile.release >= ROLLS_SINCE
    _delete_segments(log, passed, highest, rolls)
    excess = log.leo - log.segments[0] - configs.local_retention_records
    if configs.local_retention_records >= 0:
        _delete_segments(log, large, highest, rolls)
    if configs.local_retention_ms >= 0:
        _delete_segments(log, old, highest, rolls)
    if log.segments[0] > before:
        out.touch(broker.id, replica.tp)
        out.cue("R-3", broker.id, "local log start", before, log.segments[0], tp=replica.tp)


def _delete_segments(log: Log, breaches: Breach, highest: int, rolls: bool) -> None:
    """R-3.  Delete the oldest local segments, stopping at the first that must stay."""
    segments = log.segments
    count = 0
    must_roll = False
    for at, base in enumerate(segments):
        is_last = at + 1 == len(segments)
        end = log.leo if is_last else segments[at + 1]
        if log.hw < end or base == log.leo or not breaches(base, end):
            break
        must_roll = is_last and rolls
        below_start = rolls and not is_last and log.log_start >= end
        if not (0 < end <= highest + 1 or below_start):
            break
        count += 1
    if must_roll or (count and count == len(segments)):
        log.roll()
    if count:
        log.cuts += 1
        del log.segments[:count]
        log.local_start = log.segments[0]
        log.believed_start = -1
        log.drop_expired_remote()
