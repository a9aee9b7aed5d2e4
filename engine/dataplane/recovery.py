"""What a crash leaves and what a restart finds (data-plane, L-10 - L-13)."""

from __future__ import annotations

from engine.model.effects import Effects
from engine.model.log import Batch
from engine.model.state import Broker, Disk, Replica


def lose_unflushed(disk: Disk) -> list[Batch]:
    """L-11, power loss.  The worst case: everything past the last fsync is gone.  What went.

    Nothing is rewritten here: the epoch file and the checkpoints were fsynced and stay; loading
    (L-13) makes them fit the shorter log.
    """
    log = disk.log
    keep = len(log.batches)
    while keep and log.batches[keep - 1].end > log.flushed:
        keep -= 1
    gone = log.batches[keep:]
    del log.batches[keep:], log.bases[keep:]
    log.leo = max(log.batches[-1].end if log.batches else log.segments[0], log.log_start)
    while len(log.segments) > 1 and log.segments[-1] > log.leo:
        log.segments.pop()
    return gone


def flush_everything(broker: Broker) -> None:
    """L-12.  Clean shutdown: every log flushed, checkpoints exact, the marker written last."""
    for disk in broker.disks.values():
        log = disk.log
        log.flush(log.leo)
        disk.hw_checkpoint = log.hw
        disk.recovery_checkpoint = log.leo
        disk.log_start_checkpoint = log.log_start
    broker.clean_epoch = broker.broker_epoch


def load_log(disk: Disk) -> None:
    """L-13.  Cuts the epoch cache to the log; HW is the checkpointed one, bounded by the log."""
    log = disk.log
    log.epochs.truncate_from_end(log.leo)
    log.epochs.truncate_from_start(log.log_start)
    log.flushed = min(log.flushed, log.leo)
    log.hw = max(log.log_start, min(disk.hw_checkpoint, log.leo))


def open_replica(broker: Broker, tp: int, disk: Disk, out: Effects) -> Replica:
    """CP 0.6 ensure_log.  The first role of a partition in this process loads its log."""
    load_log(disk)
    out.cue("L-13", broker.id, "hw", disk.hw_checkpoint, disk.log.hw)
    return Replica(tp, broker.id, disk, broker.profile, broker.configs)
