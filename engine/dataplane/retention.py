"""The log start moves: records deleted by a client, by age, by size (data-plane, L-7, L-8)."""

from __future__ import annotations

from collections.abc import Callable

from engine.dataplane.local_retention import delete_local, is_tiered
from engine.model.broker import Process
from engine.model.configs import WEEK_MS, Configs
from engine.model.effects import Effects
from engine.model.errors import NONE, NOT_LEADER_OR_FOLLOWER, OFFSET_OUT_OF_RANGE
from engine.model.log import Log
from engine.model.state import LEADER, Replica
from engine.model.timers import LOG_START_CHECKPOINT, RETENTION

UNLIMITED = -1
UP_TO_HW = -1

Deletable = Callable[[int, int], bool]
"""(base, end) of a segment -> may it go?"""


def raise_log_start(log: Log, offset: int) -> tuple[int, bool]:
    """L-7.  Raise it, never past HW; return (error, whether it moved)."""
    if offset > log.hw:
        return OFFSET_OUT_OF_RANGE, False
    return NONE, log.raise_log_start(offset)


def delete_records(replica: Replica, offset: int) -> int:
    """L-9.  Delete what lies below `offset`, -1 meaning up to the high watermark.

    Returns an error code.  The client's answer waits for the low watermark: the smallest log start
    of all living replicas, which learn of the leader's with their next fetch.
    """
    if replica.role != LEADER:
        return NOT_LEADER_OR_FOLLOWER
    if offset < UP_TO_HW:
        return OFFSET_OUT_OF_RANGE
    log = replica.log
    error, _ = raise_log_start(log, log.hw if offset == UP_TO_HW else offset)
    log.release()
    return error


def arm_checkpoint(broker: Process, log: Log, out: Effects) -> None:
    """L-7.  Set the checkpoint's timer if a log start lies inside a segment, or below the first."""
    inside = log.log_start > log.segments[0] or log.local_start > log.log_start > 0
    if inside and not broker.log_start_armed:
        broker.log_start_armed = True
        period = broker.configs.log_start_checkpoint_ms
        out.timer(broker.id, period - out.now % period, LOG_START_CHECKPOINT)


def write_log_starts(broker: Process, data: object, out: Effects) -> bool:
    """L-7.  Write log-start-offset-checkpoint (`LogManager.checkpointLogStartOffsets`).

    What was raised since the last turn is lost in a crash; it comes back with the next fetch,
    unless all in-sync replicas crash (`UnifiedLog.maybeIncrementLogStartOffset`).
    """
    broker.log_start_armed = False
    checkpoint(broker, out)
    return True


def checkpoint(broker: Process, out: Effects) -> None:
    """L-7.  Write every log start that lies inside a segment."""
    for tp, replica in broker.replicas.items():
        disk, log = replica.disk, replica.log
        before = disk.log_start_checkpoint
        # The file names only logs that begin inside their first segment, and tiered ones.
        inside = log.log_start > log.segments[0] or is_tiered(broker, replica)
        start = log.log_start if inside else 0
        disk.log_start_checkpoint = start
        if start > before:
            out.cue("L-7.checkpoint", broker.id, f"{tp}.log_start_checkpoint", before, start, tp=tp)


def low_watermark(broker: Process, replica: Replica) -> int:
    """L-9.  Return the smallest log start of all living replicas, as the leader last heard."""
    starts = [replica.log.log_start]
    for follower, remote in replica.remote.items():
        peer = broker.peers.get(follower)
        if peer is not None and peer.alive and not peer.fenced:
            starts.append(remote.log_start)
    move = broker.machine.futures.get(replica.tp)
    if move is not None:  # D-4
        starts.append(move.disk.log.log_start)
    return min(starts)


def may_find(configs: Configs, now: int) -> bool:
    """L-8.  Check whether there is anything to check for, now or before the next `arm` (ms).

    A limit on the size, and an age below a week, is checked from the start.  A greater age, Kafka's
    default among them, only once the clock comes near it, since no record is older than its run:
    checks that cannot find anything would stand in the story of every run.  Each broker asks at
    least once in `isr_check_ms`.
    """
    near = max(WEEK_MS, now + configs.isr_check_ms)
    limited = configs.retention_records >= 0 or 0 <= configs.retention_ms < near
    return limited or configs.remote_storage


def _may_find_any(broker: Process, now: int) -> bool:
    """L-8.  Check `may_find` for the cluster's settings and for those of single topics."""
    own = broker.machine.topic_configs
    return may_find(broker.configs, now) or any(may_find(one, now) for one in own.values())


def arm(broker: Process, out: Effects) -> None:
    """L-8.  Set the timer of the retention check while a check may find something."""
    if not broker.retention_armed and _may_find_any(broker, out.now):
        broker.retention_armed = True
        period = broker.configs.retention_check_ms
        out.timer(broker.id, period - out.now % period, RETENTION)


def on_check(broker: Process, data: object, out: Effects) -> bool:
    """L-8.  Check every replica, of leaders and followers."""
    broker.retention_armed = False
    if not _may_find_any(broker, out.now):
        return False
    arm(broker, out)
    delete_old(broker, out)
    return True


def delete_old(broker: Process, out: Effects) -> None:
    """L-8.  Delete the segments of every replica that its retention no longer keeps."""
    for replica in broker.replicas.values():
        log, configs = replica.log, replica.configs
        if is_tiered(broker, replica):
            delete_local(broker, replica, out)
            continue
        before = log.log_start
        delete_old_segments(
            log,
            out.now,
            configs.retention_records,
            configs.retention_ms,
            broker.profile.retention_waits_for_hw,
        )
        if log.log_start != before:
            out.touch(broker.id, replica.tp)
            out.cue("L-8", broker.id, "log start", before, log.log_start, tp=replica.tp)


def delete_old_segments(
    log: Log,
    now: int,
    retention_records: int = UNLIMITED,
    retention_ms: int = UNLIMITED,
    waits_for_hw: bool = True,
) -> int:
    """L-8.  Run one retention check of one replica; return the number of segments deleted.

    In this order: what lies below the log start, what is too much, what is too old.  A segment goes
    only if the high watermark has passed it.  Until 0.11.0.0 that does not matter, so records go
    that were never committed (`Log.deletableSegments` at 0.11.0.0 and 0.11.0.1, KAFKA-5634).
    """

    def below(base: int, end: int) -> bool:
        return base != log.segments[-1] and end <= log.log_start

    def too_much(base: int, end: int) -> bool:
        return _records_below(log, end) <= excess

    def too_old(base: int, end: int) -> bool:
        return now - _largest_time(log, base, end) > retention_ms

    deleted = _delete(log, below, waits_for_hw)
    if retention_records >= 0:
        excess = _records_below(log, log.leo) - retention_records
        deleted += _delete(log, too_much, waits_for_hw)
    if retention_ms >= 0:
        deleted += _delete(log, too_old, waits_for_hw)
    return deleted


def _delete(log: Log, deletable: Deletable, waits_for_hw: bool) -> int:
    """L-8.  Delete the oldest segments, stopping at the first that must stay.

    If all of them go, a new one is rolled first; an empty active segment is never deleted.
    """
    segments = log.segments
    count = 0
    for at, base in enumerate(segments):
        end = segments[at + 1] if at + 1 < len(segments) else log.leo
        if waits_for_hw and log.hw < end:
            break
        if base == log.leo or not deletable(base, end):
            break
        count += 1
    if count == 0:
        return 0
    if count == len(segments):
        log.roll()
    log.raise_log_start(log.segments[count])
    return log.drop_below_log_start()


def _records_below(log: Log, end: int) -> int:
    return sum(batch.end - batch.base for batch in log.batches if batch.base < end)


def _largest_time(log: Log, base: int, end: int) -> int:
    """Return the largest timestamp in a segment, in ms."""
    times = [batch.time for batch in log.batches if base <= batch.base < end]
    return max(times, default=0)
