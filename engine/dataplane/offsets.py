"""Looking offsets up: the earliest, the latest, the first at a time (ListOffsets; C-5, H-9)."""

from __future__ import annotations

from typing import Final

from engine.dataplane.reading import access_error
from engine.model.errors import NONE, OFFSET_NOT_AVAILABLE
from engine.model.log import Log
from engine.model.messages import EARLIEST, EARLIEST_LOCAL, LATEST, NO_EPOCH
from engine.model.state import Replica

NOTHING: Final = -1

Found = tuple[int, int, int, int]
"""(error, offset, leader epoch, timestamp in ms); -1 for what there is not."""


def look_up(
    replica: Replica,
    timestamp: int,
    client: bool,
    leader_epoch: int = NO_EPOCH,
    leader_only: bool = True,
) -> Found:
    """C-5.  Look up LATEST, EARLIEST or the first record not older than `timestamp` (ms).

    A client sees no further than the high watermark, a replica to the log's end.  As long as a new
    leader's high watermark has not reached the start of its epoch, a client gets a retriable error:
    the former leader may have shown it more than this one can yet (H-9; KIP-207, 2.2).
    """
    error = access_error(replica, leader_epoch, leader_only)
    if error:
        return error, NOTHING, NO_EPOCH, NOTHING
    log = replica.log
    if timestamp == EARLIEST:
        return NONE, log.log_start, log.epochs.epoch_for_offset(log.log_start), NOTHING
    if timestamp == EARLIEST_LOCAL:  # R-5, KIP-405
        start = log.known_local_start()
        return NONE, start, log.epochs.epoch_for_offset(start), NOTHING
    limit = log.hw if client else log.leo
    lagging = client and replica.profile.offset_not_available and log.hw < replica.epoch_start
    if timestamp == LATEST:
        found: Found = (NONE, limit, replica.leader_epoch, NOTHING)
    else:
        found = first_at(log, timestamp, limit)
        lagging = lagging and found[1] == NOTHING
    return (OFFSET_NOT_AVAILABLE, NOTHING, NO_EPOCH, NOTHING) if lagging else found


def first_at(log: Log, timestamp: int, limit: int) -> Found:
    """C-5.  Return the first record below `limit` whose timestamp is `timestamp` or later."""
    for batch in log.batches:
        times = batch.times or (batch.time,) * len(batch.values)
        for at, time in enumerate(times):
            offset = batch.base + at
            if time >= timestamp and offset >= log.log_start:
                if offset >= limit:
                    return NONE, NOTHING, NO_EPOCH, NOTHING
                return NONE, offset, batch.epoch, time
    return NONE, NOTHING, NO_EPOCH, NOTHING
