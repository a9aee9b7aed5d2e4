"""Loss of state in a crash, and log loading and recovery at the restart (L-10 to L-13)."""

from __future__ import annotations

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.log import Batch, Log
from engine.model.state import Disk, Replica


def lose_unflushed(disk: Disk, spared: int = 0) -> list[Batch]:
    """L-11, power loss.  Drop the records after the last fsync, except `spared`; return them.

    `spared` is the number of records that the OS had written back; 0 is the worst case.  The epoch
    file and the checkpoints were fsynced and stay; loading (L-13) adapts them to the shorter log.
    """
    log = disk.log
    keep = len(log.batches)
    survives = log.flushed + spared
    while keep and log.batches[keep - 1].end > survives:
        keep -= 1
    lost = log.batches[keep:]
    log.cuts += 1
    del log.batches[keep:], log.bases[keep:]
    forget_log_start(disk)
    log.leo = max(log.batches[-1].end if log.batches else log.segments[0], log.log_start)
    while log.segments[-1] > log.leo:
        log.segments.pop()
    return lost


def forget_log_start(disk: Disk) -> None:
    """L-7, L-13.  Reset the log start offset to the checkpointed one, or to the first segment's.

    A clean shutdown writes the checkpoint; after a crash it is as old as the timer's last write.
    """
    log = disk.log
    log.log_start = _start_of(log, disk.log_start_checkpoint)


def _start_of(log: Log, checkpoint: int) -> int:
    """L-13.  Return the log start offset; a tiered log may start before its first segment (R-3)."""
    return checkpoint if log.local_start else max(checkpoint, log.segments[0])


def flush_everything(broker: Process) -> None:
    """L-12.  Flush every log, write the checkpoints, and last the marker of a clean shutdown."""
    machine = broker.machine
    for disk in (*machine.disks.values(), *(move.disk for move in machine.futures.values())):
        if disk.dir in machine.broken:
            continue
        log = disk.log
        log.flush(log.leo)
        disk.hw_checkpoint = log.hw
        disk.recovery_checkpoint = log.leo
        disk.log_start_checkpoint = log.log_start
    machine.clean_epoch = broker.broker_epoch


def reopen(disk: Disk, clean: bool, now: int, expiration_ms: int, damaged_from: int = -1) -> None:
    """L-13.  Load one log from its storage after a clean shutdown or a crash.

    `damaged_from` is the offset from which bytes are corrupt, -1 if none; only recovery checks it.
    `expiration_ms` is producer.id.expiration.ms: expired producers in the snapshot are dropped.
    """
    log = disk.log
    if clean:
        log.flushed = log.leo
        log.producers.expire(now, expiration_ms)
    else:
        recover_log(log, damaged_from)
    start = disk.log_start_checkpoint
    if log.leo < start:
        log.truncate_fully(start)
    log.cuts += 1
    log.log_start = _start_of(log, start)
    load_log(disk)


def recover_log(log: Log, damaged_from: int) -> list[Batch]:
    """L-13.3, L-13.7.  Verify every batch, truncate at the first corrupt one, return what was cut.

    The epoch file may be older than the log, so the epochs of all batches kept are added to it.
    """
    lost: list[Batch] = []
    if 0 <= damaged_from < log.leo:
        keep = len(log.batches)
        while keep and log.batches[keep - 1].end > damaged_from:
            keep -= 1
        lost = log.batches[keep:]
        del log.batches[keep:], log.bases[keep:]
        log.leo = log.batches[-1].end if log.batches else log.segments[0]
        while log.segments[-1] > log.leo:
            log.segments.pop()
    for batch in log.batches:
        if batch.epoch > log.epochs.latest():
            log.epochs.assign(batch.epoch, batch.base)
    log.producers.rebuild(log.batches)
    return lost


def load_log(disk: Disk) -> None:
    """L-13.  Truncate the epoch cache to the log; set HW to its checkpoint, within the log."""
    log = disk.log
    log.believed_start = -1
    log.epochs.truncate_from_end(log.leo)
    log.epochs.truncate_from_start(log.log_start)
    log.flushed = min(log.flushed, log.leo)
    log.hw = max(log.log_start, log.local_start, min(disk.hw_checkpoint, log.leo))


def open_replica(broker: Process, tp: int, disk: Disk, out: Effects) -> Replica:
    """CP 0.6 ensure_log.  Load the log when the broker first becomes leader or follower of it."""
    if disk.log.producers.reaches_past(disk.log.leo):  # L-13.7: the tail was lost with the power
        disk.log.producers.rebuild(disk.log.batches)
    load_log(disk)
    out.cue("L-13", broker.id, "hw", disk.hw_checkpoint, disk.log.hw, tp=tp)
    out.touch(broker.id, tp)
    configs = broker.machine.topic_configs.get(tp, broker.configs)
    disk.log.segment_records = configs.segment_records
    return Replica(tp, broker.id, disk, broker.profile, configs)
