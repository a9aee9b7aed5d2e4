"""Epochs along a log and in its cache, and epochs of a partition: I2, INV-3 to INV-5."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import ALWAYS, EPOCHS, About, Invariant, Observation
from engine.checks.replica_memory import ReplicaMemory
from engine.model.profiles import KIP101
from engine.model.records import PartitionRecord
from engine.model.state import Replica


class EpochMonotonic(Invariant):
    about: ClassVar = About(
        "I2",
        "EpochMonotonic",
        "Leader epochs and partition epochs never decrease.",
        "An epoch decreased.",
        ALWAYS,
        also="INV-9",
    )

    def on_epoch(self, run: Observation, seen: ReplicaMemory) -> None:
        replica = seen.replica
        if replica.leader_epoch < seen.epoch:
            name = run.name(replica.broker)
            self.report(run, "{0} went from epoch {1} to an older one", name, seen.epoch)

    def on_record(
        self, run: Observation, tp: int, record: PartitionRecord, before: PartitionRecord | None
    ) -> None:
        if before is not None and (
            record.leader_epoch < before.leader_epoch
            or record.partition_epoch < before.partition_epoch
        ):
            self.report(run, "{0} was followed by {1}", repr(before), repr(record))


class EpochMonotoneInLog(Invariant):
    about: ClassVar = About(
        "INV-3",
        "EpochMonotoneInLog",
        "Epochs never decrease along a log.",
        "Epochs decrease along a log.",
        EPOCHS,
    )

    def on_append(self, run: Observation, replica: Replica, at: int) -> None:
        if replica.profile.truncation < KIP101:
            return
        batches = replica.log.batches
        epoch = batches[at - 1].epoch if at else -1
        for batch in batches[at:]:
            if batch.epoch < epoch:
                why = "{0} has epoch {1} at {2} after epoch {3}"
                self.report(run, why, run.name(replica.broker), batch.epoch, batch.base, epoch)
            epoch = batch.epoch


class EpochCacheSorted(Invariant):
    about: ClassVar = About(
        "INV-4",
        "EpochCacheSorted",
        "In the epoch cache, epochs and start offsets increase, within the log.",
        "An epoch cache is out of order.",
        EPOCHS,
    )

    def on_epoch(self, run: Observation, seen: ReplicaMemory) -> None:
        self.check(run, seen.replica)

    def on_truncated(self, run: Observation, seen: ReplicaMemory) -> None:
        self.check(run, seen.replica)

    def on_append(self, run: Observation, replica: Replica, at: int) -> None:
        batches = replica.log.batches
        if replica.profile.truncation >= KIP101 and (
            not at or batches[at - 1].epoch != batches[-1].epoch
        ):
            self.check(run, replica)

    def check(self, run: Observation, replica: Replica) -> None:
        """Check the last two entries: entries come and go at the ends only."""
        log = replica.log
        epochs, starts = log.epochs.epochs, log.epochs.starts
        if not epochs:
            return
        increase = len(epochs) == 1 or (
            epochs[-2] < epochs[-1] and starts[-2] < starts[-1] + (not log.epochs.monotonic)
        )
        if not increase or starts[-1] > log.leo:
            last = log.epochs.entries()[-2:]
            self.report(run, "{0}'s epoch cache ends {1}", run.name(replica.broker), last)


class EpochCacheMatchesLog(Invariant):
    about: ClassVar = About(
        "INV-5",
        "EpochCacheMatchesLog",
        "The epoch cache has the epoch of each batch.",
        "An epoch cache has a wrong start offset.",
        EPOCHS,
    )

    def on_append(self, run: Observation, replica: Replica, at: int) -> None:
        log = replica.log
        if replica.profile.truncation < KIP101:
            return
        for batch in log.batches[at:]:
            # A log start inside the batch is where the cache begins.
            if log.epochs.epoch_for_offset(max(batch.base, log.log_start)) != batch.epoch:
                name = run.name(replica.broker)
                self.report(run, "{0}'s epoch cache misplaces offset {1}", name, batch.base)
