"""Remote segments against a log's leader epochs (data-plane, R-2; `RemoteLogManager`)."""

from __future__ import annotations

from engine.model.epochs import EpochCache
from engine.model.log import Log
from engine.model.remote_log import NOTHING, Entries, RemoteLog, RemoteSegment


def highest_remote_offset(remote: RemoteLog, log: Log) -> int:
    """R-1.  Return the last offset of this log that was copied, or -1 (`findHighestRemoteOffset`).

    It is in the latest epoch that has segments; segments that another leader copied beyond the end
    of that epoch do not belong to this log.
    """
    cache = log.epochs
    for epoch in reversed(cache.epochs):
        highest = remote.highest_of(epoch)
        if highest >= 0:
            _, end = cache.end_offset_for(epoch, log.leo)
            return min(highest, end - 1)
    return NOTHING


def remote_log_start(remote: RemoteLog, log: Log) -> int:
    """R-1.  Return a new leader's log start offset, with its remote part (`findLogStartOffset`)."""
    for epoch in log.epochs.epochs:
        listed = remote.listed(epoch)
        if listed:
            return listed[0].base
    return log.first_local()


def with_records(cache: EpochCache) -> Entries:
    """Return the entries of epochs that have records (`buildFilteredLeaderEpochMap`)."""
    entries = list(zip(cache.epochs, cache.starts, strict=True))
    later = entries[1:]
    empty = {entry[0] for entry, after in zip(entries, later, strict=False) if entry[1] == after[1]}
    return tuple(entry for entry in entries if entry[0] not in empty)


def is_within(segment: RemoteSegment, log_end: int, lineage: Entries) -> bool:
    """R-4.  Check that a segment is part of a log (`isRemoteSegmentWithinLeaderEpochs`).

    Its epochs, their start offsets and its end must match the epoch lineage of the log.
    """
    if not lineage or segment.end > log_end:
        return False
    oldest = lineage[0][0]
    own = [entry for entry in segment.epochs if entry[0] >= oldest]
    if not own:
        return False
    ends = dict(lineage)
    for at, (epoch, offset) in enumerate(own):
        later = next((entry for entry in lineage if entry[0] > epoch), None)
        if epoch not in ends:
            return False
        if at == 0 and epoch != oldest and offset < ends[epoch]:
            return False
        if at + 1 < len(own):
            if later != own[at + 1]:
                return False
        elif later is not None and segment.end > later[1]:
            return False
    return True
