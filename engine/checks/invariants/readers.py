"""Responses to consumers, against the logs and each other: I9, INV-23, INV-25, INV-27."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import ALWAYS, DURABILITY, About, Invariant, Observation
from engine.model.log import Batch, Log
from engine.model.messages import FetchData


class ConsumerPrefix(Invariant):
    about: ClassVar = About(
        "I9",
        "A record that a consumer read never changes or disappears.",
        "A record that a consumer read changed or disappeared.",
        DURABILITY,
        also="INV-24",
    )

    def on_read(
        self, run: Observation, client: int, src: int, data: FetchData, batches: list[Batch]
    ) -> None:
        seen, replaced = run.ledger.seen[data.tp], None
        for batch in batches:
            before = seen.setdefault(batch.base, batch)
            if not before.same(batch):
                replaced = replaced or (before, batch)
        if replaced is not None:
            before, batch = replaced
            self.report(run, "a consumer read {0} and later {1}", repr(before), repr(batch))


class VisibleIsCommitted(Invariant):
    about: ClassVar = About(
        "INV-23",
        "A consumer receives only records below the high watermark.",
        "A consumer received an uncommitted record.",
        ALWAYS,
    )

    def on_read(
        self, run: Observation, client: int, src: int, data: FetchData, batches: list[Batch]
    ) -> None:
        last = batches[-1]
        if last.end > data.hw:
            records, hw = repr(last), data.hw
            self.report(run, "a consumer got {0}, and the high watermark there is {1}", records, hw)


class LatestMonotone(Invariant):
    about: ClassVar = About(
        "INV-25",
        "The latest offset that a client receives never decreases.",
        "A client received a smaller latest offset than before.",
        DURABILITY,
        needs=("offset_not_available",),
    )

    def on_latest(self, run: Observation, tp: int, latest: int) -> None:
        highest: dict[int, int] = self.memory(run)  # partition -> offset
        before = highest.get(tp, -1)
        highest[tp] = max(before, latest)
        if latest < before:
            self.report(run, "the latest offset was {0} and is now {1}", before, latest)


class TruncationNoticed(Invariant):
    """The replica that serves a consumer has both what it read last and what it reads now.

    Or it has deleted the former from its start.  Else the consumer skips or reads again what it
    does not know of.
    """

    about: ClassVar = About(
        "INV-27",
        "A consumer that read truncated records notices before it reads on.",
        "A consumer reads on, although records that it read are gone.",
        DURABILITY,
        needs=("consumer_epochs",),
        broken_by=("mark_before_cut",),  # KAFKA-14704
    )

    def on_moved(self, run: Observation, client: int) -> None:
        self.memory(run).pop(client, None)

    def on_read(
        self, run: Observation, client: int, src: int, data: FetchData, batches: list[Batch]
    ) -> None:
        read_last: dict[int, tuple[int, Batch]] = self.memory(run)  # consumer -> (partition, batch)
        at, before = read_last.get(client, (data.tp, batches[0]))
        read_last[client] = (data.tp, batches[-1])
        disk = run.cluster.brokers[src].machine.disks.get(data.tp)
        if at != data.tp or disk is None:
            return
        log = disk.log
        kept_from = run.ledger.kept_from(data.tp, log.log_start)
        if before.end > kept_from and _has(log, batches[0]) and not _has(log, before):
            why = "a consumer read {0}, which is gone, and then {1}"
            self.report(run, why, repr(before), repr(batches[0]))


def _has(log: Log, batch: Batch) -> bool:
    at = log.index_of(batch.base)
    return at < len(log.batches) and log.batches[at].same(batch)
