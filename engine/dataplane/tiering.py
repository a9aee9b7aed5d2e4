"""Copying to remote storage, and expiry of the whole log (data-plane, R-1, R-4).

The tasks are those of `RemoteLogManager`, which run every remote.log.manager.task.interval.ms.
"""

from __future__ import annotations

from engine.dataplane import remote_lineage, retention
from engine.dataplane.local_retention import is_tiered, task_of
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.log import Log
from engine.model.remote_log import (
    UNKNOWN,
    RemoteLog,
    RemoteLogTask,
    RemoteSegment,
    RemoteStore,
)
from engine.model.state import FOLLOWER, LEADER, Replica
from engine.model.timers import REMOTE_COPY, REMOTE_LOG


def arm(broker: Process, out: Effects) -> None:
    """R-1.  Set the timer of the remote log tasks, where there is a remote store."""
    if broker.machine.store is not None:
        period = broker.configs.remote_task_ms
        out.timer(broker.id, period - out.now % period, REMOTE_LOG)


def begin(broker: Process, replica: Replica, out: Effects) -> None:
    """R-1.  Run the tasks of a replica at once in its new role (`onLeadershipChange`)."""
    if is_tiered(broker, replica):
        out.timer(broker.id, 0, REMOTE_LOG, replica.tp)


def on_task(broker: Process, tp: int | None, out: Effects) -> bool:
    """R-1.  Run a partition's tasks, or all: a leader copies and expires, a follower looks."""
    if broker.machine.store is None:
        return False
    if tp is None:
        arm(broker, out)
    run_tasks(broker, out, tp)
    return True


def run_tasks(broker: Process, out: Effects, tp: int | None = None) -> None:
    """R-1.  Run the tasks of a partition once, or of all."""
    store = broker.machine.store
    for replica in broker.replicas.values():
        if store is not None and tp in (None, replica.tp) and is_tiered(broker, replica):
            _run(broker, replica, store, out)


def _run(broker: Process, replica: Replica, store: RemoteStore, out: Effects) -> None:
    task = task_of(broker, replica.tp)
    remote = store.log_of(replica.tp)
    if replica.role == LEADER:
        if task.epoch != replica.leader_epoch:
            task.epoch, task.copied, task.copying = replica.leader_epoch, UNKNOWN, False
        if not task.copying:
            copy_segments(broker, replica, store, task, out)
        expire(broker, replica, store, task, out)
    elif replica.role == FOLLOWER:
        highest = remote_lineage.highest_remote_offset(remote, replica.log)
        task.highest = max(task.highest, highest)


# -- copying ---------------------------------------------------------------------------------------


def copy_segments(
    broker: Process, replica: Replica, store: RemoteStore, task: RemoteLogTask, out: Effects
) -> None:
    """R-1.  Copy what is closed, below the high watermark and not copied yet, oldest first.

    A new leader first looks up its log start and the last copied offset
    (`RLMCopyTask.copyLogSegmentsToRemote`).
    """
    log, remote = replica.log, store.log_of(replica.tp)
    if task.copied == UNKNOWN:
        start = remote_lineage.remote_log_start(remote, log)
        if not raise_log_start(broker, replica, start, "R-1.start", out):
            return
        task.copied = remote_lineage.highest_remote_offset(remote, log)
        task.highest = max(task.highest, task.copied)
    first = max(task.copied + 1, log.log_start)
    for base, end in closed_segments(log, first):
        if store.slow_ms:
            task.copying = True
            data = (replica.tp, replica.leader_epoch, base, end)
            out.timer(broker.id, store.slow_ms, REMOTE_COPY, data)
            out.cue("R-1.begins", broker.id, "copy", base, end, tp=replica.tp)
            return
        if not _copy(broker, replica, store, base, end, out):
            return


def on_copied(broker: Process, data: tuple[int, int, int, int], out: Effects) -> bool:
    """R-1.  End a slow copy and begin the next one, unless the replica leads no longer."""
    tp, epoch, base, end = data
    replica, store = broker.replicas.get(tp), broker.machine.store
    task = task_of(broker, tp)
    task.copying = False
    if replica is None or store is None or replica.role != LEADER:
        return False
    if replica.leader_epoch != epoch or (base, end) not in closed_segments(replica.log, base):
        return False
    if _copy(broker, replica, store, base, end, out):
        copy_segments(broker, replica, store, task, out)
    return True


def _copy(
    broker: Process, replica: Replica, store: RemoteStore, base: int, end: int, out: Effects
) -> bool:
    """R-1.  Copy one segment; False if the store fails, which ends the run."""
    if not store.up:
        out.cue("R-1.failed", broker.id, "copy", base, end, tp=replica.tp)
        return False
    remote, task = store.log_of(replica.tp), task_of(broker, replica.tp)
    remote.finish(_segment(broker.id, replica.log, remote.copied + 1, base, end))
    task.copied = end - 1
    task.highest = max(task.highest, task.copied)
    out.touch(broker.id, replica.tp)
    out.cue("R-1", broker.id, "copy", base, end, tp=replica.tp)
    return True


def closed_segments(log: Log, first: int) -> list[tuple[int, int]]:
    """R-1.  Return (base, end) of what may be copied from offset `first` on.

    The active segment is not among them, nor is what the high watermark has not passed
    (`candidateLogSegments`).
    """
    pairs = zip(log.segments, log.segments[1:], strict=False)
    return [(base, end) for base, end in pairs if first < end <= log.hw]


def _segment(broker: int, log: Log, number: int, base: int, end: int) -> RemoteSegment:
    batches = tuple(batch for batch in log.batches if base <= batch.base < end)
    entries = zip(log.epochs.epochs, log.epochs.starts, strict=True)
    checkpoint = tuple(entry for entry in entries if entry[1] < end)
    segment = RemoteSegment(number, broker, base, end, batches, checkpoint)
    segment.producers.rebuild(batch for batch in log.batches if batch.base < end)
    return segment


# -- the log start, and total retention ------------------------------------------------------------


def raise_log_start(
    broker: Process, replica: Replica, offset: int, rule: str, out: Effects
) -> bool:
    """L-7.  Raise the log start; False above the high watermark, which ends the task's run."""
    log = replica.log
    before = log.log_start
    error, moved = retention.raise_log_start(log, offset)
    if error:
        out.cue("R-4.early", broker.id, "log start", log.hw, offset, tp=replica.tp)
    if moved:
        retention.arm_checkpoint(broker, log, out)
        out.touch(broker.id, replica.tp)
        out.cue(rule, broker.id, "log start", before, offset, tp=replica.tp)
    return not error


def expire(
    broker: Process, replica: Replica, store: RemoteStore, task: RemoteLogTask, out: Effects
) -> None:
    """R-4.  Apply retention.ms and retention.bytes to the whole log, remote part first.

    First the log start moves, then segments are deleted, so that the next leader can finish it
    (`RLMExpirationTask.cleanupExpiredRemoteLogSegments`).  At last those of epochs older than the
    leader's first one go.
    """
    log, remote = replica.log, store.log_of(replica.tp)
    lineage = remote_lineage.with_records(log.epochs)
    if not remote.epochs or not lineage:
        return
    deletable, start = _breaching(replica, remote, task, out.now)
    if not raise_log_start(broker, replica, start, "R-4", out):
        return
    log.release()
    oldest = log.epochs.epochs[0]
    deletable += (
        segment
        for segment in remote.all_segments()
        if segment not in deletable and segment.epochs[-1][0] < oldest
    )
    for segment in deletable:
        if not _delete_remote(broker, replica.tp, store, segment, out):
            break


def _breaching(
    replica: Replica, remote: RemoteLog, task: RemoteLogTask, now: int
) -> tuple[list[RemoteSegment], int]:
    """R-4.  Return the segments to delete, and the log start after that, or -1."""
    log, configs = replica.log, replica.configs
    lineage = remote_lineage.with_records(log.epochs)
    excess = _excess(replica, remote, task) if configs.retention_records >= 0 else 0
    breaching: list[RemoteSegment] = []
    start = -1
    for epoch, _ in lineage:
        for segment in remote.listed(epoch):
            if segment in breaching:
                continue
            passed = segment.end <= log.log_start and segment.epochs[-1][0] <= lineage[0][0]
            if not passed and not remote_lineage.is_within(segment, log.leo, lineage):
                continue
            old = 0 <= configs.retention_ms <= now - segment.largest_time()
            large = excess > 0 and segment.records() <= excess
            if not passed and not old and not large:
                return breaching, start
            if not passed:
                excess = max(0, excess - segment.records())
                start = max(start, segment.end)
            breaching.append(segment)
    return breaching, start


def _excess(replica: Replica, remote: RemoteLog, task: RemoteLogTask) -> int:
    """R-4.  Return by how many records the log, remote part included, is too large."""
    log = replica.log
    lineage = remote_lineage.with_records(log.epochs)
    copied = {
        segment.number: segment.records()
        for epoch, _ in lineage
        for segment in remote.listed(epoch)
        if remote_lineage.is_within(segment, log.leo, lineage)
    }
    local = [base for base in log.segments if base >= task.highest]
    only_local = log.leo - local[0] if local else 0
    return only_local + sum(copied.values()) - replica.configs.retention_records


def _delete_remote(
    broker: Process, tp: int, store: RemoteStore, segment: RemoteSegment, out: Effects
) -> bool:
    """R-4.  Delete a remote segment; False if the store fails: the next run tries again."""
    remote = store.log_of(tp)
    remote.begin_deletion(segment)
    if not store.up:
        out.cue("R-4.failed", broker.id, "delete", segment.base, segment.end, tp=tp)
        return False
    remote.finish_deletion(segment)
    out.cue("R-4.deleted", broker.id, "delete", segment.base, segment.end, tp=tp)
    return True
