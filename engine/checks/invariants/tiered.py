"""Remote storage, against what was committed (data-plane, R-): INV-39 to INV-41."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import ALWAYS, DURABILITY, NEVER, About, Invariant, Observation
from engine.model.epochs import EpochCache
from engine.model.log import Batch, Log
from engine.model.remote_log import RemoteLog, within
from engine.model.state import FOLLOWER, Replica


class DeletedMeansCopied(Invariant):
    about: ClassVar = About(
        "INV-39",
        "What was committed and no local segment of the leader holds is in remote storage.",
        "Committed records are neither on the leader's disk nor in remote storage.",
        DURABILITY,
    )

    def on_tier(self, run: Observation, remote: RemoteLog, leader: Replica, start: int) -> None:
        log = leader.log
        lineage = remote.lineage(log.epochs, start, log.local_start)
        missing = _missing(log, start, run.ledger.committed[leader.tp], lineage)
        if missing is not None:
            self.report(
                run,
                "{0} was committed; {1} has deleted its segment, and remote storage has no "
                "other for its epoch",
                repr(missing),
                run.name(leader.broker),
            )


def _missing(
    log: Log, start: int, committed: dict[int, Batch], lineage: list[Batch]
) -> Batch | None:
    """Return a committed batch that is neither in a local segment nor in the remote lineage."""
    remote = {batch.base: batch for batch in lineage}
    for base, batch in committed.items():
        if batch.end <= start or base >= log.local_start:
            continue
        copy = remote.get(base)
        if copy is None or not copy.same(batch):
            return batch
    return None


class RebuiltEpochs(Invariant):
    about: ClassVar = About(
        "INV-40",
        "A follower that began after a remote segment has the epochs of its leader.",
        "A follower has rebuilt its log with other epochs than its leader's.",
        NEVER,
    )

    def on_tier(self, run: Observation, remote: RemoteLog, leader: Replica, start: int) -> None:
        for broker in leader.assignment:
            replica = run.cluster.brokers[broker].replicas.get(leader.tp)
            if replica is not None and replica.role == FOLLOWER:
                self._compare(run, replica, leader, start)

    def _compare(self, run: Observation, replica: Replica, leader: Replica, start: int) -> None:
        log, theirs = replica.log, leader.log
        if replica.leader_epoch != leader.leader_epoch or not log.local_start:
            return
        if not log.epochs.epochs and log.leo == log.local_start:
            return  # it has not read the epochs yet
        start, end = max(start, log.log_start), min(log.hw, theirs.hw)
        mine, copied = _epochs(log.epochs, start, end), _epochs(theirs.epochs, start, end)
        if start < end and mine != copied:
            why = "{0} has the epochs {1} from {2} to {3}, its leader {4}"
            self.report(run, why, run.name(replica.broker), mine, start, end, copied)


def _epochs(cache: EpochCache, start: int, end: int) -> list[tuple[int, int]]:
    """Return the entries of a cache for [start, end)."""
    entries = tuple(zip(cache.epochs, cache.starts, strict=True))
    return [entry for entry in within(entries, start) if entry[1] < end]


class CopiedMeansCommitted(Invariant):
    about: ClassVar = About(
        "INV-41",
        "Only committed records are copied.",
        "Records that were not committed are in remote storage.",
        ALWAYS,
    )

    def on_remote(self, run: Observation, tp: int, remote: RemoteLog) -> None:
        highest = run.reached[tp]
        for segment in remote.all_segments():
            if segment.end > highest:
                self.report(
                    run,
                    "{0} to {1} were copied to remote storage, and no leader's high "
                    "watermark got past {2}",
                    segment.base,
                    segment.end - 1,
                    highest,
                )
