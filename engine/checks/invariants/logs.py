"""Logs of one partition that must agree: I5, I13, INV-12."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.checks import prefix
from engine.checks.invariant import ALWAYS, DURABILITY, About, Invariant, Observation
from engine.model.cluster import Cluster
from engine.model.phrases import phrase
from engine.model.state import LEADER, Replica


class InSyncLogMatching(Invariant):
    about: ClassVar = About(
        "I5",
        "In-sync replicas have equal logs below their high watermarks.",
        "Two logs differ below their high watermarks.",
        DURABILITY,
        also="INV-14",
        title="LogMatching",
    )

    def on_pair(
        self, run: Observation, replica: Replica, other: Replica, start: int, end: int
    ) -> None:
        log, theirs = replica.log, other.log
        start, end = run.ledger.kept_from(replica.tp, start), min(end, theirs.hw)
        at = log.agrees_with(theirs, start, end)
        if at >= 0:
            differing = prefix.differing(log, theirs, at, end)
            run.ledger.diverged.update((replica.tp, offset) for offset in differing)
            self.report(
                run,
                "offset {0} is {1} on {2} and {3} on {4}, below both high watermarks",
                at,
                repr(log.batches[log.index_of(at)]),
                run.name(replica.broker),
                repr(theirs.batches[theirs.index_of(at)]),
                run.name(other.broker),
            )


class Convergence(Invariant):
    """Contents are compared by I5; this is about getting there at all."""

    about: ClassVar = About(
        "I13",
        "After faults and traffic end, in-sync replicas reach the leader's LEO and high watermark.",
        "The replicas differ after all faults were repaired.",
        ALWAYS,
    )

    def on_settled(self, run: Observation) -> None:
        for why in unsettled(run.cluster):
            self.report(run, why)


def unsettled(cluster: Cluster) -> Iterator[str]:
    """Yield why partitions have not come to rest, a sentence for each replica that is behind."""
    names = {node: phrase("broker {0}", broker.name) for node, broker in cluster.brokers.items()}
    for tp, record in cluster.controller.records.items():
        leader = cluster.current_leader(tp)
        if leader is None:
            if _untold(cluster, record.leader, tp):
                continue
            # Where every in-sync copy lies on a disk that has failed, no replica can lead.
            if any(_can_serve(cluster, member, tp) for member in record.isr):
                yield phrase("nobody leads {0}: {1}", cluster.names[tp], repr(record))
            continue
        ends = (leader.log.leo, leader.log.hw)
        for member in record.isr:
            replica = cluster.brokers[member].replicas.get(tp)
            own = None if replica is None else (replica.log.leo, replica.log.hw)
            if own != ends and not _untold(cluster, member, tp):
                yield phrase(
                    "{0} stays at (LEO, HW) {1}, its leader {2} at {3}",
                    names[member],
                    own,
                    names[leader.broker],
                    ends,
                )


def _can_serve(cluster: Cluster, node: int, tp: int) -> bool:
    process = cluster.brokers[node].process
    return process is None or tp not in process.offline


def _untold(cluster: Cluster, node: int, tp: int) -> bool:
    """CP-ZK-BROKERS.  Check whether the broker's bounce has gone unnoticed (before 2.2).

    The controller sends it no role, and it waits for the next decision.
    """
    if cluster.profile.broker_generation or node not in cluster.brokers:
        return False
    replica = cluster.brokers[node].replicas.get(tp)
    return replica is None or replica.leader_epoch < 0


class LogMatching(Invariant):
    """By induction: the batch before the first one taken must be the leader's.

    It must be the same where both logs have not deleted it.
    """

    about: ClassVar = About(
        "INV-12",
        "Two logs with the same epoch at an offset are equal up to it.",
        "Two logs have the same epoch at an offset, but differ below it.",
        DURABILITY,
        explains="I5",
    )

    def on_append(self, run: Observation, replica: Replica, at: int) -> None:
        if not at or replica.role == LEADER:
            return
        previous, first = replica.log.batches[at - 1], replica.log.batches[at]
        leader = run.cluster.brokers.get(replica.leader)
        disk = leader.machine.disks.get(replica.tp) if leader is not None else None
        if disk is None:
            return
        log = disk.log
        if previous.end <= run.ledger.kept_from(replica.tp, log.log_start):
            return
        there = log.index_of(first.base)
        if 0 < there < len(log.batches) and log.batches[there] is first:
            theirs = log.batches[there - 1]
            if not theirs.same(previous):
                self.report(
                    run,
                    "{0} has {1} where {2} has {3}",
                    run.name(replica.broker),
                    repr(previous),
                    run.name(replica.leader),
                    repr(theirs),
                )
