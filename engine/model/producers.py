"""Producer state of a log, for idempotence (data-plane specification, P-7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from engine.model.declared import begins, declared, fresh
from engine.model.errors import INVALID_PRODUCER_EPOCH, NONE, OUT_OF_ORDER_SEQUENCE_NUMBER

REMEMBERED: Final = 5  # max.in.flight.requests.per.connection may be no larger
SEQUENCES: Final = 1 << 31  # an int32: after 2147483647 comes 0


class ProducedBatch(Protocol):
    """The part of a batch that matters here."""

    @property
    def base(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def time(self) -> int: ...
    @property
    def producer(self) -> int: ...
    @property
    def producer_epoch(self) -> int: ...
    @property
    def sequence(self) -> int: ...


Written = tuple[int, int, int, int]
"""(first sequence, last sequence, first offset, last offset) of one batch."""


@declared
class ProducerEntry:
    """One producer: its epoch, its last batches, oldest first, and when it last wrote (ms)."""

    epoch: int
    batches: list[Written] = fresh(list)
    time: int = begins(0)

    def copy(self) -> ProducerEntry:
        new = ProducerEntry(self.epoch)
        new.batches = self.batches.copy()
        new.time = self.time
        return new


@declared
class Producers:
    """P-7.  The producers of one log.

    Followers record without checking, so that a new leader recognises the duplicates of its
    predecessor's clients.
    """

    entries: dict[int, ProducerEntry] = fresh(dict)

    def copy(self) -> Producers:
        new = Producers()
        new.entries = {producer: entry.copy() for producer, entry in self.entries.items()}
        return new

    def check(
        self, producer: int, epoch: int, sequence: int, count: int, unknown: int = NONE
    ) -> tuple[int, Written | None]:
        """P-7.1 - P-7.5.  Return (error, None), or (NONE, the batch written before).

        A producer that is unknown, new or expired or with all its data deleted, may begin anywhere
        from 2.5 on; `unknown` is what an older log says unless it begins at 0.
        """
        entry = self.entries.get(producer)
        if entry is None:
            return NONE if sequence == 0 else unknown, None
        if epoch == entry.epoch:
            last = (sequence + count - 1) % SEQUENCES
            for written in entry.batches:
                if written[0] == sequence and written[1] == last:
                    return NONE, written
            expected = (entry.batches[-1][1] + 1) % SEQUENCES
        elif epoch < entry.epoch:
            return INVALID_PRODUCER_EPOCH, None
        else:
            expected = 0
        return (NONE if sequence == expected else OUT_OF_ORDER_SEQUENCE_NUMBER), None

    def record(self, batch: ProducedBatch) -> None:
        """P-7.  Note a batch that was written, by a producer or a fetcher."""
        entry = self.entries.get(batch.producer)
        if entry is None or entry.epoch != batch.producer_epoch:
            entry = self.entries[batch.producer] = ProducerEntry(batch.producer_epoch)
        last = (batch.sequence + batch.end - batch.base - 1) % SEQUENCES
        entry.batches.append((batch.sequence, last, batch.base, batch.end - 1))
        del entry.batches[:-REMEMBERED]
        entry.time = batch.time

    def rebuild(self, batches: Iterable[ProducedBatch]) -> None:
        """P-7, L-13.7.  Rebuild from the remaining batches after truncation and recovery."""
        self.entries.clear()
        for batch in batches:
            if batch.producer >= 0:
                self.record(batch)

    def evict(self, log_start: int) -> None:
        """P-7, until 2.3 (KIP-360).  Evict batches below the log start, and empty producers."""
        for producer, entry in list(self.entries.items()):
            entry.batches = [written for written in entry.batches if written[3] >= log_start]
            if not entry.batches:
                del self.entries[producer]

    def reaches_past(self, end: int) -> bool:
        """Check whether a batch is remembered that a log of this length no longer has."""
        return any(entry.batches[-1][3] >= end for entry in self.entries.values())

    def expire(self, now: int, expiration_ms: int) -> None:
        """producer.id.expiration.ms.  Drop producers that have not written for that time."""
        for producer, entry in list(self.entries.items()):
            if now - entry.time >= expiration_ms:
                del self.entries[producer]
