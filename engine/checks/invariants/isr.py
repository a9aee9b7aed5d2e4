"""The ISR in the controller's record and at the leader: I3, I4, INV-13."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import ALWAYS, DURABILITY, NEVER, About, Invariant, Observation
from engine.model.cluster import Cluster
from engine.model.log import Log
from engine.model.phrases import phrase
from engine.model.records import Ids, PartitionRecord
from engine.model.state import FOLLOWER, Replica


class IsrInAR(Invariant):
    about: ClassVar = About(
        "I3",
        "The ISR is a subset of the assigned replicas, and the leader is in it.",
        "The ISR or its leader is not valid.",
        ALWAYS,
        broken_by=("keeps_removed_replicas",),  # KAFKA-1097
    )

    def on_record(
        self, run: Observation, tp: int, record: PartitionRecord, before: PartitionRecord | None
    ) -> None:
        if (
            any(member not in record.replicas for member in record.isr)
            or (record.leader >= 0 and record.leader not in record.isr)
            or any(member in record.isr for member in record.elr)
        ):
            self.report(run, "{0} with replicas {1}", repr(record), list(record.replicas))


class MaximalIsrSuperset(Invariant):
    """AlterPartition breaks it for a moment (docs/explanation/model.md)."""

    about: ClassVar = About(
        "I4",
        "The leader's maximal ISR contains the controller's ISR.",
        "The leader's ISR lacks a replica of the controller's ISR.",
        NEVER,
    )

    def on_record(
        self, run: Observation, tp: int, record: PartitionRecord, before: PartitionRecord | None
    ) -> None:
        leader = run.cluster.current_leader(tp)
        if (
            leader is None
            or not leader.profile.alter_partition
            or len(record.isr) < leader.min_isr()
        ):
            return
        missing = [member for member in record.isr if member not in leader.maximal_isr]
        if missing:
            why = "the controller counts {0} in the ISR, {1} does not"
            self.report(run, why, missing, run.name(leader.broker))


class FetchPrefix(Invariant):
    about: ClassVar = About(
        "INV-13",
        "A replica that joins the ISR has the leader's log up to its own end.",
        "A replica joined the ISR with records that differ from its leader's.",
        DURABILITY,
        explains="I6",
    )

    def on_joined(self, run: Observation, leader: Replica, members: Ids) -> None:
        why = unlike_prefix(run.cluster, leader, members)
        if why:
            self.report(run, why)


def unlike_prefix(cluster: Cluster, leader: Replica, members: Ids) -> str:
    """Return why an in-sync follower lacks records its leader counts it for, or "".

    By induction: the record just before its fetch offset must be the same; INV-12 has the rest.
    """
    mine = leader.log
    for member in members:
        remote = leader.remote.get(member)
        if remote is None:
            continue
        follower = cluster.brokers[member].replicas.get(leader.tp)
        if (
            follower is None
            or follower.role != FOLLOWER
            or follower.leader_epoch != leader.leader_epoch
        ):
            continue
        why = _unlike(mine, follower.log, remote.leo)
        if why:
            name, peer = cluster.brokers[leader.broker].name, cluster.brokers[member].name
            return phrase(
                "broker {0} counts broker {1} up to {2}, which {3}", name, peer, remote.leo, why
            )
    return ""


def _unlike(mine: Log, theirs: Log, offset: int) -> str:
    if theirs.leo < offset:
        return phrase("ends at {0}", theirs.leo)
    last = offset - 1
    if last < max(mine.first_local(), theirs.first_local()) or offset > mine.leo:
        return ""
    at, there = mine.index_of(last), theirs.index_of(last)
    if at == len(mine.batches):
        return ""
    ours = mine.batches[at]
    if there == len(theirs.batches):
        return phrase("has nothing for {0}", repr(ours))
    its = theirs.batches[there]
    return "" if ours.same(its) else phrase("has {0} for {1}", repr(its), repr(ours))
