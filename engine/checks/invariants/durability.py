"""Committed and acknowledged records that must stay, once each: I6, I7, I8, I10, I12."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import COUNTED, DURABILITY, About, Invariant, Observation
from engine.checks.ledger import Acked
from engine.model.log import Batch
from engine.model.state import Replica

GONE = "{0} at offset {1}, acknowledged with acks={2}, is gone: {3} leads epoch {4} without it"


class LeaderComplete(Invariant):
    about: ClassVar = About(
        "I6",
        "LeaderComplete",
        "A new leader has every committed record.",
        "The leader lacks a committed record.",
        DURABILITY,
        also="INV-17, INV-19",
    )

    def on_missing(self, run: Observation, replica: Replica, batches: list[Batch]) -> None:
        name, first = run.name(replica.broker), min(batches, key=lambda batch: batch.base)
        why = "{0} leads epoch {1} without the committed {2}"
        self.report(run, why, name, replica.leader_epoch, repr(first))


class AckedAllDurable(Invariant):
    about: ClassVar = About(
        "I7",
        "AckedAllDurable",
        "A record acknowledged with acks=all stays.",
        "An acknowledged record is gone.",
        DURABILITY,
        also="INV-16",
    )

    def on_lost(self, run: Observation, replica: Replica, acked: Acked, records: list[str]) -> None:
        if acked.acks == -1:
            names, leader = ", ".join(records), run.name(replica.broker)
            self.report(run, GONE, names, acked.base, "all", leader, replica.leader_epoch)


class Ack1Durable(Invariant):
    about: ClassVar = About(
        "I8",
        "Ack1Durable",
        "A record acknowledged with acks=1 stays.",
        "A record acknowledged with acks=1 is gone.",
        COUNTED,
    )

    def on_lost(self, run: Observation, replica: Replica, acked: Acked, records: list[str]) -> None:
        if acked.acks != -1:
            self.count(run)


class TrueHwMonotonic(Invariant):
    about: ClassVar = About(
        "I10",
        "TrueHwMonotonic",
        "A committed record is never removed or replaced.",
        "A committed record was removed or replaced.",
        DURABILITY,
        also="INV-15",
    )

    def on_missing(self, run: Observation, replica: Replica, batches: list[Batch]) -> None:
        least = min(batch.base for batch in batches)
        why = "offset {0} was committed, and {1} leads without it"
        self.report(run, why, least, run.name(replica.broker))

    def on_replaced(self, run: Observation, batch: Batch) -> None:
        self.report(run, "{0} was committed and now another record is, there", repr(batch))


class NoDuplicate(Invariant):
    """Duplicates of a producer without numbers are only counted: it has no promise."""

    about: ClassVar = About(
        "I12",
        "NoDuplicate",
        "Each record of an idempotent producer is committed at most once.",
        "A record appears twice.",
        DURABILITY,
        also="INV-26",
        needs=("idempotent_producer",),
    )

    def on_committed_twice(self, run: Observation, batch: Batch, first: int) -> None:
        self.report(run, "{0} was sent once and is committed at {1} already", repr(batch), first)

    def on_retried(self, run: Observation, leader: Replica, acked: Acked, since: int) -> None:
        for batch in reversed(leader.log.batches):
            if batch.time < since:
                return
            if batch.values == acked.values and batch.base != acked.base:
                self.count(run)
                return
