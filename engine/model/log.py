"""One replica's log: batches, segments, append, read, truncate (data-plane specification, L-).

A batch is the unit of storage, replication and truncation.  It is made once, by the leader that
appends it, and the same object then stands in every log that holds it: two logs hold the same
record at an offset exactly if they hold the same object there, which makes comparing logs cheap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from engine.model.compiling import mypyc_attr
from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh
from engine.model.epochs import EpochCache
from engine.model.producers import Producers
from engine.model.profiles import Profile

OK: Final = 0
UNEXPECTED_OFFSET: Final = -2
OFFSETS_OUT_OF_ORDER: Final = -3
NO_PRODUCER: Final = -1
NO_LIMIT: Final = 1 << 60


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Batch:
    """L-1.  Offsets [base, end) of one leader epoch; never changed once made.

    `values` are the record ids; `time` the largest timestamp in ms; `times`, if given, one per
    record; `producer`, `producer_epoch`, `sequence` are -1 unless the producer is idempotent.
    """

    __slots__ = (
        "base",
        "end",
        "epoch",
        "producer",
        "producer_epoch",
        "sequence",
        "time",
        "times",
        "values",
    )

    def __init__(
        self,
        base: int,
        epoch: int,
        values: tuple[str, ...],
        time: int = 0,
        producer: int = NO_PRODUCER,
        producer_epoch: int = -1,
        sequence: int = -1,
        times: tuple[int, ...] | None = None,
    ) -> None:
        self.base = base
        self.end = base + len(values)
        self.epoch = epoch
        self.values = values
        self.time = time
        self.producer = producer
        self.producer_epoch = producer_epoch
        self.sequence = sequence
        self.times = times

    def same(self, other: Batch) -> bool:
        """Check whether another batch has the same records at the same offsets."""
        return self is other or (
            self.base == other.base and self.epoch == other.epoch and self.values == other.values
        )

    def __repr__(self) -> str:
        return f"{'+'.join(self.values)}@{self.base}({self.epoch})"


@declared
class Log:
    """L-2, H-1.  Log of one replica, and its high watermark.

    Offsets: `log_start <= hw <= leo`; `flushed` (the recovery point) is what an OS crash spares.
    `cleans_on_noop` is KAFKA-10706 (2.6.1): a truncation that removes no record still cleans the
    epoch cache.  `clamps_hw` is 2.4: truncation takes the high watermark along.  `cuts` counts
    changes of anything but the end: a reader that caches a finding looks again after one.

    `local_start` is localLogStartOffset where segments were copied to remote storage and deleted
    here (R-3), 0 for other logs.  Batches below it are those of the remote log: they stay in
    `batches` for the observer and the view, and are never served from here.  `believed_start`: what
    the broker takes for it, where it has not noticed (KAFKA-15695); -1 for the truth.
    """

    cleans_on_noop: bool = True
    clamps_hw: bool = True
    evicts_producers: bool = False
    old_format_clears: bool = True
    batches: list[Batch] = fresh(list)
    bases: list[int] = fresh(list)
    epochs: EpochCache = fresh(EpochCache)
    producers: Producers = fresh(Producers)
    log_start: int = begins(0)
    local_start: int = begins(0)
    believed_start: int = begins(-1)
    released: int = begins(0)
    hw: int = begins(0)
    leo: int = begins(0)
    flushed: int = begins(0)
    cuts: int = begins(0)
    segments: list[int] = fresh(lambda: [0])
    segment_records: int = begins(NO_LIMIT)

    def copy(self) -> Log:
        twin = shallow(self)
        twin.batches = self.batches.copy()
        twin.bases = self.bases.copy()
        twin.epochs = self.epochs.copy()
        twin.producers = self.producers.copy()
        twin.segments = self.segments.copy()
        return twin

    def release(self) -> None:
        """Note that what lies below the log start was deleted on purpose.

        A crash may take the log start back to its checkpoint, but not the deletion.
        """
        self.released = max(self.released, self.log_start)

    # -- appending -----------------------------------------------------------------------------

    def append(self, batch: Batch) -> None:
        """L-3.5 - L-3.9, L-4.4 - L-4.7.  Note the epoch, roll if due, write, move LEO."""
        base = batch.base
        if batch.epoch >= 0:
            epochs = self.epochs.epochs
            if not epochs or epochs[-1] != batch.epoch:
                self.epochs.assign(batch.epoch, base)
        elif self.old_format_clears and self.epochs.epochs:
            self.epochs.clear()  # epochs that go on after a gap could not be trusted
        active = self.segments[-1]
        if batch.end - active > self.segment_records and base > active:
            self.roll(base)
        self.batches.append(batch)
        self.bases.append(base)
        self.leo = batch.end
        if batch.producer >= 0:
            self.producers.record(batch)

    def append_follower(self, batches: Sequence[Batch]) -> int:
        """L-4.  Take batches verbatim; OK, UNEXPECTED_OFFSET or OFFSETS_OUT_OF_ORDER."""
        last = -1
        for batch in batches:
            if batch.end - 1 <= last:
                return OFFSETS_OUT_OF_ORDER
            last = batch.end - 1
        if not batches:
            return OK
        first = batches[0]
        if first.base < self.leo:
            if self.leo != self.log_start or not first.base < self.leo < first.end:
                return UNEXPECTED_OFFSET
            # An empty log whose leader's log start lies inside a batch: begin with that batch.
            self.truncate_fully(first.base)
        for batch in batches:
            self.append(batch)
        return OK

    def segment_of(self, offset: int) -> int:
        """Return the base of the segment that holds an offset."""
        return self.segments[max(0, bisect_right(self.segments, offset) - 1)]

    def roll(self, base: int = -1) -> None:
        """L-5.  Begin a new active segment and flush what lies below it."""
        new = max(base, self.leo)
        if new > self.segments[-1]:
            self.segments.append(new)
            self.flush(self.leo)

    def flush(self, upto: int) -> None:
        """L-10.  Flush (fsync): everything below `upto` survives an OS crash."""
        self.flushed = max(self.flushed, min(upto, self.leo))

    # -- reading -------------------------------------------------------------------------------

    def index_of(self, offset: int) -> int:
        """Return the index of the batch that holds `offset` (or the first one after it)."""
        at = bisect_right(self.bases, offset) - 1
        if at < 0 or self.batches[at].end <= offset:
            at += 1
        return at

    def read(self, offset: int, bound: int, max_batches: int = NO_LIMIT) -> Sequence[Batch] | None:
        """L-6, C-3.  Return whole batches from `offset`, below `bound`; None when out of range.

        A position between the bound and the log's end finds nothing, which is no error.
        """
        if offset < self.log_start or offset > self.leo:
            return None
        if offset >= bound:
            return ()
        at = self.index_of(offset)
        if bound >= self.leo:
            return self.batches[at : at + max_batches]
        return self.batches[at : min(bisect_left(self.bases, bound), at + max_batches)]

    def last_epoch(self) -> int:
        """Return the epoch of the last batch, or -1."""
        return self.batches[-1].epoch if self.batches else -1

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """E-5.  Return the end of an epoch, with this log's end for the last one."""
        return self.epochs.end_offset_for(epoch, self.leo)

    # -- cutting -------------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> list[Batch]:
        """L-14, E-6.  Keep what lies below `offset` and return the truncated batches."""
        assert offset >= 0
        if offset >= self.leo:
            if self.cleans_on_noop:
                self.epochs.truncate_from_end(self.leo)
            return []
        if self.segments[0] > offset:
            cut = self.batches
            self.truncate_fully(offset)
            return cut
        # A batch that straddles the cut goes whole, while LEO is still the offset asked for.
        keep = bisect_left(self.bases, offset)
        if keep and self.batches[keep - 1].end > offset:
            keep -= 1
        cut = self.batches[keep:]
        self.cuts += 1
        del self.batches[keep:], self.bases[keep:]
        while len(self.segments) > 1 and self.segments[-1] > offset:
            self.segments.pop()
        self.leo = offset
        self.flushed = min(self.flushed, offset)
        self.epochs.truncate_from_end(offset)
        if self.producers.entries:
            self.producers.rebuild(self.batches)
        self.log_start = min(self.log_start, offset)
        if self.clamps_hw:
            self.hw = min(self.hw, offset)
        return cut

    def truncate_fully(self, offset: int, log_start: int = -1) -> list[Batch]:
        """L-15.  Drop everything; the empty log starts and ends at `offset`."""
        cut = self.batches
        self.cuts += 1
        self.batches, self.bases = [], []
        self.segments = [offset]
        self.leo = offset
        if self.clamps_hw:
            self.hw = offset
        self.log_start = offset if log_start < 0 else log_start
        self.local_start = 0
        self.believed_start = -1
        self.flushed = min(self.flushed, offset)
        self.epochs.clear()
        self.producers.entries.clear()
        return cut

    def raise_log_start(self, offset: int) -> bool:
        """L-7.  Raise the log start; True if it moved.  The caller has checked HW."""
        if offset <= self.log_start:
            return False
        self.cuts += 1
        self.log_start = offset
        self.hw = max(self.hw, offset)
        self.flushed = max(self.flushed, offset)
        self.epochs.truncate_from_start(offset)
        if self.local_start:
            self.drop_expired_remote()
        if self.evicts_producers and self.producers.entries:
            self.producers.evict(offset)
        return True

    def drop_below_log_start(self) -> int:
        """Delete the segments that lie wholly below the log start and count them."""
        segments = self.segments
        dropped = 0
        while len(segments) > 1 and segments[1] <= self.log_start:
            segments.pop(0)
            dropped += 1
        keep = bisect_left(self.bases, segments[0])
        self.cuts += 1
        del self.batches[:keep], self.bases[:keep]
        return dropped

    def first_local(self) -> int:
        """R-3.  Return the first offset that this disk keeps (`localLogStartOffset`)."""
        return max(self.log_start, self.local_start)

    def known_local_start(self) -> int:
        """R-3.  Return the local log start as the broker knows it."""
        known = self.local_start if self.believed_start < 0 else self.believed_start
        return max(self.log_start, known)

    def drop_expired_remote(self) -> None:
        """R-4.  Drop the batches of remote segments that lie wholly below the log start."""
        keep = self.index_of(min(self.log_start, max(self.local_start, self.segments[0])))
        if keep:
            self.cuts += 1
            del self.batches[:keep], self.bases[:keep]

    # -- comparing -----------------------------------------------------------------------------

    def agrees_with(self, other: Log, start: int, end: int) -> int:
        """Return the first offset in [start, end) at which the logs' records differ, or -1."""
        start = max(start, self.log_start, other.log_start)
        end = min(end, self.leo, other.leo)
        if start >= end:
            return -1
        i, j = self.index_of(start), other.index_of(start)
        mine, theirs = self.batches, other.batches
        while i < len(mine) and j < len(theirs):
            a, b = mine[i], theirs[j]
            if a is not b and not a.same(b):
                return max(start, min(a.base, b.base)) if min(a.base, b.base) < end else -1
            if a.end >= end:
                return -1
            i += 1
            j += 1
        return -1


def empty_log(profile: Profile) -> Log:
    """Return an empty log with the rules of the profile."""
    log = Log(
        profile.cache_cleaned_by_noop_truncate,
        profile.hw_clamped_on_truncate,
        profile.evicts_producers,
        profile.old_format_clears_epochs,
    )
    log.epochs = EpochCache(profile.monotonic_epoch_cache)
    return log
