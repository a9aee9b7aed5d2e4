"""Remote storage: the copied segments of each partition, and their metadata by leader epoch.

R-2 (KIP-405).  One object is the object store and its metadata at once; both are shared by all
brokers, as `RemoteStorageManager` and `RemoteLogMetadataManager` are.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from engine.model.copying import Twins
from engine.model.declared import begins, declared, fresh, unset
from engine.model.epochs import EpochCache
from engine.model.log import Batch
from engine.model.producers import Producers

NOTHING: Final = -1

Entries = tuple[tuple[int, int], ...]
"""Epochs with their start offsets, in order."""


@declared
class RemoteSegment:
    """R-1.  A copied segment, offsets [base, end); never changed once made.

    `epochs` are its own, clipped to it; `checkpoint` is the leader's cache up to its end, and
    `producers` the producer snapshot there.
    """

    number: int
    broker: int
    base: int
    end: int
    batches: tuple[Batch, ...]
    checkpoint: Entries
    epochs: Entries = unset()
    producers: Producers = fresh(Producers)

    def __post_init__(self) -> None:
        self.epochs = within(self.checkpoint, self.base)

    def records(self) -> int:
        return sum(batch.end - batch.base for batch in self.batches)

    def largest_time(self) -> int:
        """Return the largest timestamp in it, in ms."""
        return max((batch.time for batch in self.batches), default=0)

    def last_of(self, epoch: int) -> int:
        """Return the last offset of one of its epochs."""
        later = [start for other, start in self.epochs if other > epoch]
        return (min(later) if later else self.end) - 1


def within(entries: Entries, start: int) -> Entries:
    """Return the epoch entries that cover `start` and later offsets, clipped to `start`."""
    later = tuple(entry for entry in entries if entry[1] > start)
    before = [epoch for epoch, at in entries if at <= start]
    return ((before[-1], start), *later) if before else later


@declared
class RemoteEpoch:
    """R-2.  Segments of one leader epoch (`RemoteLogLeaderEpochState`).

    `starts` and `segments` are parallel and sorted; `unreferenced` were replaced, or their deletion
    has failed; `highest` is the last offset that was ever copied in this epoch.
    """

    starts: list[int] = fresh(list)
    segments: list[RemoteSegment] = fresh(list)
    unreferenced: list[RemoteSegment] = fresh(list)
    highest: int = begins(NOTHING)

    def copy(self) -> RemoteEpoch:
        twin = RemoteEpoch()
        twin.starts, twin.segments = self.starts.copy(), self.segments.copy()
        twin.unreferenced, twin.highest = self.unreferenced.copy(), self.highest
        return twin

    def finish(self, start: int, segment: RemoteSegment, last: int) -> None:
        """Add a copied segment; those that it covers are no longer referenced."""
        while self.starts and self.starts[-1] >= start and self.highest <= last:
            self.starts.pop()
            self.unreferenced.append(self.segments.pop())
        at = bisect_right(self.starts, start)
        if at and self.starts[at - 1] == start:
            self.segments[at - 1] = segment
        else:
            self.starts.insert(at, start)
            self.segments.insert(at, segment)
        self.highest = max(self.highest, last)

    def unreference(self, segment: RemoteSegment) -> None:
        """Keep a segment for another try: its deletion has begun."""
        if segment in self.segments:
            at = self.segments.index(segment)
            del self.segments[at], self.starts[at]
        if segment not in self.unreferenced:
            self.unreferenced.append(segment)


@declared
class RemoteLog:
    """R-2.  All remote segments of one partition (`RemoteLogMetadataCache`)."""

    epochs: dict[int, RemoteEpoch] = fresh(dict)
    copied: int = begins(0)  # segments so far, which number the next one

    def copy(self) -> RemoteLog:
        twin = RemoteLog()
        twin.copied = self.copied
        twin.epochs = {epoch: state.copy() for epoch, state in self.epochs.items()}
        return twin

    def finish(self, segment: RemoteSegment) -> None:
        """Make a copied segment known in each of its epochs."""
        self.copied += 1
        for epoch, start in segment.epochs:
            state = self.epochs.setdefault(epoch, RemoteEpoch())
            state.finish(start, segment, segment.last_of(epoch))

    def begin_deletion(self, segment: RemoteSegment) -> None:
        for epoch, _ in segment.epochs:
            self.epochs[epoch].unreference(segment)

    def finish_deletion(self, segment: RemoteSegment) -> None:
        for epoch, _ in segment.epochs:
            self.epochs[epoch].unreferenced.remove(segment)

    def segment_at(self, epoch: int, offset: int) -> RemoteSegment | None:
        """Return the segment that holds an offset of an epoch; None if there is none."""
        state = self.epochs.get(epoch)
        at = bisect_right(state.starts, offset) if state is not None else 0
        if state is None or not at:
            return None
        segment = state.segments[at - 1]
        return segment if offset <= segment.last_of(epoch) else None

    def highest_of(self, epoch: int) -> int:
        """Return the last offset that was copied in an epoch, or -1."""
        state = self.epochs.get(epoch)
        return NOTHING if state is None else state.highest

    def listed(self, epoch: int) -> list[RemoteSegment]:
        """Return the segments of an epoch by offset, with those that nothing refers to."""
        state = self.epochs.get(epoch)
        if state is None:
            return []
        return sorted(state.segments + state.unreferenced, key=lambda segment: segment.base)

    def all_segments(self) -> list[RemoteSegment]:
        """Return every segment once, by offset, then by number."""
        found = {one.number: one for epoch in self.epochs for one in self.listed(epoch)}
        return sorted(found.values(), key=lambda one: (one.base, one.number))

    def lineage(self, cache: EpochCache, start: int, end: int) -> list[Batch]:
        """Return the batches in [start, end) that a log with this epoch cache can read here.

        What another leader has deleted is left out: a log start that is behind reads past it.  A
        segment may begin before the first epoch that its own cache had.
        """
        batches: list[Batch] = []
        offset = start
        while offset < end:
            epoch = cache.epoch_for_offset(offset)
            segment = self.segment_at(epoch, offset)
            if segment is None:
                segments = self.all_segments()
                starts = {start for each in segments for _, start in each.epochs}
                later = [at for at in starts.union(each.base for each in segments) if at > offset]
                offset = min(later, default=end)
                continue
            stop = min(end, segment.last_of(epoch) + 1)
            batches += [
                batch for batch in segment.batches if batch.end > offset and batch.base < stop
            ]
            offset = stop
        return list(dict.fromkeys(batches))


@declared
class RemoteStore:
    """R-2.  The store that all brokers share; `up` is false while it answers with errors.

    `slow_ms`: the time that each copy, and each look into a segment by a follower, takes.
    """

    logs: dict[int, RemoteLog] = fresh(dict)
    slow_ms: int = begins(0)
    up: bool = begins(True)

    def twin(self, twins: Twins) -> RemoteStore:
        twin = RemoteStore()
        twin.slow_ms = self.slow_ms
        twin.up = self.up
        twin.logs = {tp: log.copy() for tp, log in self.logs.items()}
        return twin

    def log_of(self, tp: int) -> RemoteLog:
        log = self.logs.get(tp)
        if log is None:
            log = self.logs[tp] = RemoteLog()
        return log


UNKNOWN: Final = -2


@declared
class RemoteLogTask:
    """R-1, R-3.  A broker's memory of one partition (`RLMCopyTask`, `UnifiedLog`).

    `copied`: the last offset that this term as a leader has found or copied, -2 before it looked;
    `highest`: highestOffsetInRemoteStorage, which local deletion obeys.  `copying`: a copy is under
    way.
    """

    epoch: int = begins(NOTHING)
    copying: bool = begins(False)
    copied: int = begins(UNKNOWN)
    highest: int = begins(NOTHING)

    def copy(self) -> RemoteLogTask:
        twin = RemoteLogTask()
        twin.epoch, twin.copied, twin.highest = self.epoch, self.copied, self.highest
        twin.copying = self.copying
        return twin


@declared
class Rebuild:
    """R-5.  A follower that rebuilds its log from remote storage (`TierStateMachine`).

    `leader_start` is the log start of the answer that began it; `local_start` and `epoch` are the
    leader's local log start and the epoch there, -1 before they are known; `segment` is the remote
    segment after which the local log starts.
    """

    leader_epoch: int
    leader_start: int
    local_start: int = begins(NOTHING)
    epoch: int = begins(NOTHING)
    segment: RemoteSegment | None = begins(None)
    built: bool = begins(False)

    def copy(self) -> Rebuild:
        twin = Rebuild(self.leader_epoch, self.leader_start)
        twin.local_start, twin.epoch, twin.built = self.local_start, self.epoch, self.built
        twin.segment = self.segment
        return twin
