"""Log truncation of a new follower to agree with its leader, in every generation (T-).

A function here decides where to cut; `cut` cuts.  Nothing else in the engine shortens a log.
"""

from __future__ import annotations

from engine.model.effects import Effects
from engine.model.log import Log
from engine.model.state import Replica


def cut(replica: Replica, offset: int, rule: str, out: Effects) -> None:
    """L-14.  Truncate to `offset`; the recovery-point file is rewritten at once.

    The target may lie below the follower's own high watermark: that is reported, not prevented.
    """
    log = replica.log
    before = log.leo
    removed = log.truncate_to(offset)
    out.touch(replica.broker, replica.tp)
    disk = replica.disk
    disk.recovery_checkpoint = min(disk.recovery_checkpoint, log.leo)
    disk.log_start_checkpoint = min(disk.log_start_checkpoint, log.log_start)
    if removed:
        out.cue(rule, replica.broker, "leo", before, log.leo, tp=replica.tp)
        if out.cues is not None:
            out.cue("L-14", replica.broker, "cut", replica.tp, tuple(removed), tp=replica.tp)
    else:
        out.cue(rule + ".kept", replica.broker, "leo", before, offset, tp=replica.tp)


def to_high_watermark(replica: Replica, out: Effects) -> None:
    """T-0, H-11, until 0.10.2.  Truncate to HW; later the fallback of a log without epochs.

    The follower's high watermark trails the leader's by a fetch, so a record can be committed and
    still be cut here: that is what KIP-101 is about.
    """
    cut(replica, replica.log.hw, "T-0", out)


def target_by_offset(log: Log, end: int, hw: int) -> tuple[int, bool]:
    """T-1, KIP-101.  Return (target, done) for an offset, which cannot name its epoch."""
    if end < 0:
        return hw, True
    return min(end, log.leo), True


def target_by_pair(log: Log, epoch: int, end: int, hw: int) -> tuple[int, bool]:
    """T-2, KIP-279.  Return (target, done) for the leader's answer (epoch, end).

    An epoch newer than any here, or one that an old leader cannot name, leaves only the offset.  If
    the leader's epoch is unknown here, the logs parted earlier: cut back to an older epoch of
    our own and ask again.  Each round removes at least the own latest epoch (E-6).
    """
    if end < 0:
        return hw, True
    own_epoch, own_end = log.end_offset_for_epoch(epoch)
    if own_end < 0:
        return min(end, log.leo), True
    if own_epoch != epoch:
        return min(own_end, log.leo), False
    return min(own_end, end, log.leo), True
