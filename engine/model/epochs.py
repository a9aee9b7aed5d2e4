"""The leader-epoch cache of one replica and its file (data-plane specification, E-)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from engine.model.declared import declared, fresh

UNDEFINED_EPOCH: Final = -1
UNDEFINED_OFFSET: Final = -1
UNDEFINED: Final = (UNDEFINED_EPOCH, UNDEFINED_OFFSET)


@declared
class EpochCache:
    """E-1.  Sorted entries (epoch, start offset), kept as two parallel lists.

    `monotonic` is the rule of 2.0.1 and later; without it the cache of 0.11 - 2.0.0 is meant, whose
    answers carry an offset that cannot name its epoch (E-5, first column).
    """

    monotonic: bool = True
    epochs: list[int] = fresh(list)
    starts: list[int] = fresh(list)

    def copy(self) -> EpochCache:
        new = EpochCache(self.monotonic)
        new.epochs = self.epochs.copy()
        new.starts = self.starts.copy()
        return new

    def entries(self) -> list[list[int]]:
        """Return [[epoch, start offset], ...] in order."""
        return [[e, s] for e, s in zip(self.epochs, self.starts, strict=True)]

    def latest(self) -> int:
        """Return the epoch of the last entry, or -1."""
        return self.epochs[-1] if self.epochs else UNDEFINED_EPOCH

    def assign(self, epoch: int, offset: int) -> bool:
        """E-2.  Note that `epoch` begins at `offset`; True if the cache changed."""
        assert epoch >= 0 and offset >= 0
        epochs, starts = self.epochs, self.starts
        if not self.monotonic:
            if epochs and (epoch <= epochs[-1] or offset < starts[-1]):
                return False
        else:
            if epochs and epochs[-1] == epoch and offset >= starts[-1]:
                return False
            while epochs and (epochs[-1] >= epoch or starts[-1] >= offset):
                epochs.pop()
                starts.pop()
        epochs.append(epoch)
        starts.append(offset)
        return True

    def truncate_from_end(self, offset: int) -> None:
        """E-3.  Drop the entries that start at `offset`, the log's new end, or later."""
        if offset < 0:
            return
        while self.starts and self.starts[-1] >= offset:
            self.starts.pop()
            self.epochs.pop()

    def truncate_from_start(self, offset: int) -> None:
        """E-4.  Drop entries below `offset`, the log's start; the covering one moves."""
        if offset < 0:
            return
        covered = bisect_right(self.starts, offset)
        if covered:
            self.starts[:covered] = [offset]
            self.epochs[:covered] = [self.epochs[covered - 1]]

    def clear(self) -> None:
        self.epochs.clear()
        self.starts.clear()

    def end_offset_for(self, requested: int, leo: int) -> tuple[int, int]:
        """E-5.  Return (epoch found, its exclusive end), or (-1, -1).

        Without `monotonic` the epoch of the pair means nothing: version 0 of the answer lacks it.
        """
        epochs = self.epochs
        if requested == UNDEFINED_EPOCH or not epochs or requested > epochs[-1]:
            return UNDEFINED
        if requested == epochs[-1]:
            return requested, leo
        after = bisect_right(epochs, requested)
        if after == 0:
            # Before the first entry nothing is known; from 2.0.1 on the answer says that whatever
            # was written in that epoch ended where the first known epoch begins.
            return (requested, self.starts[0]) if self.monotonic else UNDEFINED
        return epochs[after - 1], self.starts[after]

    def epoch_for_offset(self, offset: int) -> int:
        """E-7.  Return the epoch that wrote `offset`, or -1 when it lies before the first entry."""
        at = bisect_right(self.starts, offset)
        return self.epochs[at - 1] if at else UNDEFINED_EPOCH

    def previous(self, epoch: int) -> int:
        """Return the cached epoch just below `epoch`, or -1."""
        return max((e for e in self.epochs if e < epoch), default=UNDEFINED_EPOCH)

    def next(self, epoch: int) -> int:
        """Return the cached epoch just above `epoch`, or -1."""
        return min((e for e in self.epochs if e > epoch), default=UNDEFINED_EPOCH)

    def start_of(self, epoch: int) -> int:
        """Start offset of exactly `epoch`, or -1."""
        return self.starts[self.epochs.index(epoch)] if epoch in self.epochs else UNDEFINED_OFFSET
