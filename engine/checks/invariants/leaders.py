"""Leaders, and when one may commit: I1, I14, I15, INV-10."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import ALWAYS, DISKS, About, Invariant, Observation
from engine.checks.replica_memory import ReplicaMemory
from engine.model.state import Replica


class OneLeaderPerEpoch(Invariant):
    about: ClassVar = About(
        "I1",
        "One broker leads in a leader epoch.",
        "Two leaders act in one epoch.",
        ALWAYS,
        also="INV-7",
    )

    def on_leader(self, run: Observation, replica: Replica) -> None:
        leaders: dict[tuple[int, int], int] = self.memory(run)  # (partition, epoch) -> broker
        node, epoch = replica.broker, replica.leader_epoch
        first = leaders.setdefault((replica.tp, epoch), node)
        if first != node:
            names = run.name(first), run.name(node)
            self.report(run, "{0} and {1} both lead epoch {2}", *names, epoch)


class NoCommitWithoutQuorum(Invariant):
    about: ClassVar = About(
        "I14",
        "No record is committed with fewer in-sync replicas than min.insync.replicas (3.7).",
        "A record was committed with too few in-sync replicas.",
        ALWAYS,
        needs=("strict_min_isr",),
    )

    def on_hw_raised(self, run: Observation, replica: Replica) -> None:
        in_sync, least = len(replica.isr), replica.min_isr()
        if in_sync < least:
            name, hw = run.name(replica.broker), replica.log.hw
            why = "{0} committed up to {1} with {2} in sync, of {3} wanted"
            self.report(run, why, name, hw, in_sync, least)


class ZombieCannotCommit(Invariant):
    """An unclean election may depose a leader that is its whole ISR and does not know it.

    Nothing keeps that one from committing on its own, in any Kafka: only clean elections count.

    A broker that was the whole ISR may lead again with an empty disk.  The leader before it, which
    has not heard of that, then commits what it knows this broker to have had: so disks must keep
    what they had (A1).
    """

    about: ClassVar = About(
        "I15",
        "A deposed leader commits no new record.",
        "A deposed leader committed a record.",
        DISKS,
        also="INV-11",
    )

    def on_leader(self, run: Observation, replica: Replica) -> None:
        starts: dict[int, tuple[tuple[int, int], ...]] = self.memory(run)  # by partition
        begun = (replica.leader_epoch, replica.epoch_start)
        starts[replica.tp] = (*starts.get(replica.tp, ()), begun)

    def on_hw_raised(self, run: Observation, replica: Replica) -> None:
        hw, own, unclean = replica.log.hw, replica.leader_epoch, run.ledger.unclean_epochs
        for epoch, start in self.memory(run).get(replica.tp, ()):
            if epoch <= own or hw <= start:
                continue
            if not any(tp == replica.tp and own < deposed <= epoch for tp, deposed in unclean):
                why = (
                    "{0}, leader of the past epoch {1}, committed up to {2}; epoch {3} began at {4}"
                )
                self.report(run, why, run.name(replica.broker), own, hw, epoch, start)


class LeaderAppendOnly(Invariant):
    about: ClassVar = About(
        "INV-10",
        "A leader never truncates its own log.",
        "A leader truncated its own log.",
        ALWAYS,
    )

    def on_truncated(self, run: Observation, seen: ReplicaMemory) -> None:
        if seen.keeps_leading():
            name, leo = run.name(seen.replica.broker), seen.replica.log.leo
            self.report(run, "{0}, a leader, cut its log from {1} to {2}", name, seen.leo, leo)
