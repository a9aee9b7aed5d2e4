"""A log moves to another directory of its broker: the future log (data-plane, D-; KIP-113, 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.dataplane import directories, truncation
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.profiles import FETCH
from engine.model.quotas import ReplicationQuota
from engine.model.state import (
    FETCHING,
    TRUNCATING,
    DirectoryMove,
    Disk,
    PartitionFetchState,
    Replica,
)
from engine.model.timers import DIR_MOVE

ROUND_MS: Final = 1
QUOTA_PAUSE_MS: Final = 1_000


# -- begin and end ---------------------------------------------------------------------------------


def begin(broker: Process, replica: Replica, disk: Disk, out: Effects) -> None:
    """D-1.  Start an empty log in another directory; a new destination cancels the old move.

    `disk` is the directory's new, empty log.
    """
    cancel(broker, replica, out)
    broker.machine.futures[replica.tp] = DirectoryMove(disk, _start(replica, disk))
    out.cue("D-1", broker.id, f"future {replica.tp}", replica.disk.dir, disk.dir, tp=replica.tp)
    wake(broker, out)


def cancel(broker: Process, replica: Replica, out: Effects) -> None:
    """D-1.  Drop the future log; notify a controller that knew of it.

    3.7.0 does not (`ReplicaAlterLogDirsThread` at 3.7.1, KAFKA-16297).
    """
    move = broker.machine.futures.pop(replica.tp, None)
    if move is None:
        return
    out.cue("D-1.cancel", broker.id, f"future {replica.tp}", move.disk.dir, None, tp=replica.tp)
    if move.asked and not broker.profile.given_up_move_stays:
        directories.assign(broker, replica.tp, replica.disk.dir, out)


def drop(broker: Process, directory: int, out: Effects) -> None:
    """L-16.  Drop the moves into a failed directory: these logs stay where they are."""
    for tp in [tp for tp, move in broker.machine.futures.items() if move.disk.dir == directory]:
        replica = broker.replicas.get(tp)
        if replica is None:  # the process has only started
            del broker.machine.futures[tp]
        else:
            cancel(broker, replica, out)


def take_over_abandoned(broker: Process, assigned: Mapping[int, int], out: Effects) -> None:
    """D-5.  Let copies that the controller knows of stand for logs whose directory is gone.

    `assigned` is partition -> directory, as the metadata say at the start
    (`LogManager.recoverAbandonedFutureLogs`).  3.7.0 makes the replica again beside the copy, so
    that the swap fails and that directory is lost, too (KAFKA-16082).
    """
    machine = broker.machine
    for tp, move in list(machine.futures.items()):
        if tp not in broker.offline or assigned.get(tp) != move.disk.dir:
            continue
        del machine.futures[tp]
        if broker.profile.abandoned_copy_fails_dir:
            _lose_directory(broker, move.disk.dir, out)
            continue
        before = machine.disks[tp].dir
        machine.disks[tp] = move.disk
        broker.offline.discard(tp)
        out.cue("D-5", broker.id, f"directory {tp}", before, move.disk.dir, tp=tp)


def _lose_directory(broker: Process, directory: int, out: Effects) -> None:
    """L-16.  Take a directory offline at the start; without another one the process halts."""
    machine = broker.machine
    machine.broken.add(directory)
    broker.offline |= {tp for tp, disk in machine.disks.items() if disk.dir == directory}
    if not directories.working(machine):
        out.cue("L-16.halt", broker.id, "halted", None, directory)
        broker.halted = True


def restart(broker: Process, replica: Replica, is_known: bool, out: Effects) -> None:
    """D-2.  Compare the logs again in a new leader epoch, and after a start of the process.

    From 2.1 to 2.4 the thread of a partition that `is_known` to the process keeps the old epoch
    (`ReplicaManager.becomeLeaderOrFollower` at 2.4.1 and 2.5.0, KAFKA-9654).  Until 3.4 it begins
    at the high watermark of the current log (`ReplicaManager.maybeAddLogDirFetchers` at 3.4.1,
    KAFKA-9087).
    """
    move = broker.machine.futures.get(replica.tp)
    if move is not None and not (is_known and broker.profile.future_keeps_old_epoch):
        move.fenced = False
        move.fetch = _start(replica, move.disk)
        if broker.profile.copy_begins_at_current_hw:
            move.fetch.offset = replica.log.hw
        move.asked = move.accepted = False
        wake(broker, out)


def _start(replica: Replica, disk: Disk) -> PartitionFetchState:
    """D-2.  Start truncating, from the future log's own high watermark, in every generation."""
    return PartitionFetchState(replica.tp, disk.log.hw, replica.leader_epoch, TRUNCATING, -1)


def on_truncated(broker: Process, tp: int, offset: int, out: Effects) -> None:
    """D-4.  Truncate the future log, too, where it has parted from the current one."""
    move = broker.machine.futures.get(tp)
    if move is not None:
        move.fetch.state = TRUNCATING
        move.fetch.offset = min(offset, move.fetch.offset)
        move.fetch.last_epoch = -1
        wake(broker, out)


# -- the loop --------------------------------------------------------------------------------------


def wake(broker: Process, out: Effects) -> None:
    """D-2.  Wake the thread if it has something to do, unless a hand drives it."""
    if broker.machine.auto_fetch and not broker.copying and next_partition(broker) >= 0:
        broker.copying = True
        out.timer(broker.id, ROUND_MS, DIR_MOVE)


def on_timer(broker: Process, out: Effects) -> bool:
    """D-2.  Play one round, then the next one; after a pause if the quota is used up (D-3)."""
    broker.copying = False
    if not broker.machine.auto_fetch or next_partition(broker) < 0:
        return False
    if work(broker, out):
        wake(broker, out)
    else:
        broker.copying = True
        out.timer(broker.id, QUOTA_PAUSE_MS, DIR_MOVE)
    return True


def next_partition(broker: Process) -> int:
    """D-2.  Return the partition that was begun, else the first; -1 without work."""
    ready = [tp for tp, move in broker.machine.futures.items() if _has_work(broker, tp, move)]
    begun = [tp for tp in ready if broker.machine.futures[tp].fetch.lag is not None]
    return begun[0] if begun else min(ready, default=-1)


def _has_work(broker: Process, tp: int, move: DirectoryMove) -> bool:
    replica = broker.replicas.get(tp)
    if replica is None or move.fenced:
        return False
    if move.fetch.state == TRUNCATING or move.disk.log.leo != replica.log.leo:
        return True
    return (move.accepted or not move.asked) and not is_unlike(broker, replica, move)


def work(broker: Process, out: Effects) -> bool:
    """D-2, D-3.  Play one round of the thread; False if the quota lets nothing be copied now."""
    tp = next_partition(broker)
    if tp < 0:
        return True  # a hand let it go round
    move, replica = broker.machine.futures[tp], broker.replicas[tp]
    if _is_fenced(broker, replica, move, out):
        return True
    if move.fetch.state == TRUNCATING:
        _truncate(broker, replica, move, out)
        return True
    if move.fetch.offset != move.disk.log.leo:
        _fail(broker, replica, move, out)
        return True
    quota = _quota(broker)
    if quota is not None and quota.exceeded(out.now):
        out.cue("D-3", broker.id, "held back", None, tp, tp=tp)
        return False
    copied = _copy(broker, replica, move, out)
    if quota is not None:
        quota.record(copied, out.now)
    maybe_promote(broker, replica, move, out)
    return True


def _is_fenced(broker: Process, replica: Replica, move: DirectoryMove, out: Effects) -> bool:
    """D-2, 2.1 - 2.4.  Check whether a read with an old leader epoch is refused.

    The thread then drops the partition (`AbstractFetcherThread.onPartitionFenced`; from 2.3 on it
    counts as failed).
    """
    epoch = move.fetch.leader_epoch
    if epoch == replica.leader_epoch or not broker.profile.future_keeps_old_epoch:
        return False
    move.fenced = True
    what = f"future {replica.tp}"
    out.cue("D-2.fenced", broker.id, what, epoch, replica.leader_epoch, tp=replica.tp)
    return True


def _fail(broker: Process, replica: Replica, move: DirectoryMove, out: Effects) -> None:
    """D-2, F-8.  Let go of a partition whose fetch offset is not the end of the copy."""
    move.fenced = True
    end = move.disk.log.leo
    out.cue("F-7", broker.id, f"future {replica.tp}", move.fetch.offset, end, tp=replica.tp)


def _quota(broker: Process) -> ReplicationQuota | None:
    """D-3.  Return the quota of copies between directories; None: no limit is set.

    It is apart from the replication quotas, and without their exemptions: all that is copied
    counts.
    """
    limit = broker.configs.dir_move_rate
    if limit is None:
        broker.dir_quota = None
    elif broker.dir_quota is None or broker.dir_quota.limit != limit:
        broker.dir_quota = ReplicationQuota(limit)
    return broker.dir_quota


def _truncate(broker: Process, replica: Replica, move: DirectoryMove, out: Effects) -> None:
    """D-2, D-4.  Truncate by T-2 against the current log; not done: another round.

    Of a copy without epochs nothing is known there, as of one that is ahead of the current log.
    """
    future, state = move.disk.log, move.fetch
    before = future.leo
    epoch, end = replica.log.end_offset_for_epoch(future.epochs.latest())
    target, done = truncation.target_by_pair(future, epoch, end, state.offset)
    cut = future.truncate_to(target)
    move.disk.recovery_checkpoint = min(move.disk.recovery_checkpoint, future.leo)
    if cut:
        out.cue("D-4", broker.id, f"future {replica.tp}", before, future.leo, tp=replica.tp)
    else:
        out.cue("D-4.kept", broker.id, f"future {replica.tp}", before, target, tp=replica.tp)
    state.offset = future.leo
    if end < 0 and replica.profile.copy_begins_at_current_hw:
        state.offset = max(target, future.leo)  # nothing was copied yet: there is no epoch
    if done:
        state.state = FETCHING


def _copy(broker: Process, replica: Replica, move: DirectoryMove, out: Effects) -> int:
    """D-2.  Read the current log up to its end, on leaders too, and return the records copied."""
    log, future, state = replica.log, move.disk.log, move.fetch
    if future.leo < log.log_start:
        future.truncate_fully(log.log_start)
        state.offset = log.log_start
    before = future.leo
    future.append_follower(log.read(state.offset, log.leo, broker.configs.fetch_max_records) or ())
    future.hw = max(future.log_start, min(log.hw, future.leo))
    if log.log_start <= future.hw and future.raise_log_start(log.log_start):
        future.drop_below_log_start()
    state.offset = future.leo
    state.lag = log.leo - future.leo
    if future.leo != before:
        out.cue("D-2", broker.id, f"future {replica.tp}", before, future.leo, tp=replica.tp)
    return future.leo - before


# -- promotion -------------------------------------------------------------------------------------


def is_unlike(broker: Process, replica: Replica, move: DirectoryMove) -> bool:
    """D-5.  Check for last segments that begin at different offsets, which keeps the copy waiting.

    Until 2.1 that counts beside the end (`Partition.maybeReplaceCurrentWithFutureReplica` at 2.1.1,
    KAFKA-8002).
    """
    unlike = move.disk.log.segments[-1] != replica.log.segments[-1]
    return unlike and broker.profile.swap_needs_like_segments


def maybe_promote(broker: Process, replica: Replica, move: DirectoryMove, out: Effects) -> None:
    """D-5.  Promote a log that has caught up; KRaft (3.7) asks the controller first."""
    if move.disk.log.leo != replica.log.leo or move.fetch.state == TRUNCATING:
        return
    if is_unlike(broker, replica, move):
        return
    if broker.profile.dir_failure_kraft and not move.accepted:
        if not move.asked:
            move.asked = True
            out.cue(
                "D-5.ask",
                broker.id,
                f"future {replica.tp}",
                replica.disk.dir,
                move.disk.dir,
                tp=replica.tp,
            )
            directories.assign(broker, replica.tp, move.disk.dir, out)
        return
    _promote(broker, replica, move, out)


def on_accepted(broker: Process, accepted: list[tuple[int, int]], out: Effects) -> None:
    """D-5.  Note that the controller knows the new directory."""
    for tp, directory in accepted:
        move, replica = broker.machine.futures.get(tp), broker.replicas.get(tp)
        if move is not None and replica is not None and move.disk.dir == directory:
            move.accepted = True
            maybe_promote(broker, replica, move, out)


def _promote(broker: Process, replica: Replica, move: DirectoryMove, out: Effects) -> None:
    """D-5, D-6.  Replace the current log by the future one, with its high watermark.

    Its epoch cache knows only the epochs of what was copied: an epoch in which nothing was written
    is lost (KAFKA-15608), and with it the answer to a follower that names it, as those do from 2.8
    on (KAFKA-20961).
    """
    disk, profile = move.disk, broker.profile
    if profile.truncation == FETCH and not profile.moved_log_forgets_epochs:
        disk.log.epochs = replica.log.epochs
    disk.log.hw = replica.log.hw
    out.cue("D-5", broker.id, f"directory {replica.tp}", replica.disk.dir, disk.dir, tp=replica.tp)
    if disk.log.epochs.entries() != replica.log.epochs.entries():
        lost = replica.log.epochs.latest()
        out.cue(
            "D-6", broker.id, f"epochs {replica.tp}", lost, disk.log.epochs.latest(), tp=replica.tp
        )
    replica.disk, replica.log = disk, disk.log
    broker.machine.disks[replica.tp] = disk
    del broker.machine.futures[replica.tp]
