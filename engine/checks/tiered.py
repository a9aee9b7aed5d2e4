"""INV-39 to INV-41: what remote storage holds, against what was committed (data-plane, R-)."""

from __future__ import annotations

from typing import Protocol

from engine.checks.ledger import Ledger
from engine.model.cluster import Cluster
from engine.model.epochs import EpochCache
from engine.model.log import Batch, Log
from engine.model.remote_log import RemoteStore, within
from engine.model.state import FOLLOWER, Replica


class Reporter(Protocol):
    """Recipient of violations (`engine.checks.invariants.Checker`)."""

    reached: list[int]

    def report(self, invariant: str, why: str, *values: object) -> None: ...
    def name(self, node: int) -> str: ...


class TierMemory:
    """Largest log start that a leader of each tiered partition had so far."""

    def __init__(self) -> None:
        self.starts: dict[int, int] = {}

    def copy(self) -> TierMemory:
        twin = TierMemory()
        twin.starts = self.starts.copy()
        return twin

    def look(
        self,
        cluster: Cluster,
        store: RemoteStore,
        ledger: Ledger,
        observer: Reporter,
    ) -> None:
        """Check every tiered partition whose leader is known to the controller."""
        for tp, remote in store.logs.items():
            for segment in remote.all_segments():
                if segment.end > observer.reached[tp]:
                    observer.report(
                        "INV-41",
                        "{0} to {1} were copied to remote storage, and no leader's high "
                        "watermark got past {2}",
                        segment.base,
                        segment.end - 1,
                        observer.reached[tp],
                    )
            leader = cluster.current_leader(tp)
            if leader is None:
                continue
            released = leader.log.released
            if released > ledger.released.get(tp, 0):
                ledger.release(tp, released)
            start = max(self.starts.get(tp, 0), leader.log.log_start, released)
            self.starts[tp] = start
            lineage = remote.lineage(leader.log.epochs, start, leader.log.local_start)
            missing = _missing(leader.log, start, ledger.committed[tp], lineage)
            if missing is not None:
                observer.report(
                    "INV-39",
                    "{0} was committed; {1} has deleted its segment, and remote storage has no "
                    "other for its epoch",
                    repr(missing),
                    observer.name(leader.broker),
                )
            for broker in leader.assignment:
                self._compare(cluster.brokers[broker].replicas.get(tp), leader, start, observer)

    def _compare(
        self, replica: Replica | None, leader: Replica, start: int, observer: Reporter
    ) -> None:
        """INV-40.  Compare the epochs of a follower that has rebuilt its log with its leader's."""
        if replica is None or replica.role != FOLLOWER:
            return
        log, theirs = replica.log, leader.log
        if replica.leader_epoch != leader.leader_epoch or not log.local_start:
            return
        if not log.epochs.epochs and log.leo == log.local_start:
            return  # it has not read the epochs yet
        start, end = max(start, log.log_start), min(log.hw, theirs.hw)
        mine, known = _epochs(log.epochs, start, end), _epochs(theirs.epochs, start, end)
        if start < end and mine != known:
            observer.report(
                "INV-40",
                "{0} has the epochs {1} from {2} to {3}, its leader {4}",
                observer.name(replica.broker),
                mine,
                start,
                end,
                known,
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


def _epochs(cache: EpochCache, start: int, end: int) -> list[tuple[int, int]]:
    """Return the entries of a cache for [start, end)."""
    entries = tuple(zip(cache.epochs, cache.starts, strict=True))
    return [entry for entry in within(entries, start) if entry[1] < end]
