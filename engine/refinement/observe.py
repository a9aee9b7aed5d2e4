"""Abstraction of one partition of a simulation, in the terms of the ladder."""

from __future__ import annotations

from typing import NamedTuple

from engine.model.log import Batch
from engine.model.state import FOLLOWER, LEADER, NONE
from engine.sim.simulation import Simulation


class ReplicaObservation(NamedTuple):
    """One replica: its log, and what its process has heard.  Epochs are the run's own."""

    batches: tuple[Batch, ...]
    log_start: int
    hw: int
    """Never beyond the end of the log; -1 while no process holds the replica."""
    role: int
    leader: int
    """A broker, or -1."""
    epoch: int
    incarnation: int
    """Incarnation of the process that holds it; the last one's where none does."""

    @property
    def leads(self) -> bool:
        return self.role == LEADER

    @property
    def follows(self) -> bool:
        return self.role == FOLLOWER and self.leader >= 0

    @property
    def knows(self) -> tuple[int, int, int, int]:
        """Facts that the replica acts upon; they change with every announcement."""
        return self.role, self.leader, self.epoch, self.incarnation


class SeenRecord(NamedTuple):
    """The controller's record: broker or -1, epoch, brokers."""

    leader: int
    epoch: int
    isr: frozenset[int]
    replicas: frozenset[int]
    elr: frozenset[int]


def replica(sim: Simulation, tp: int, broker: int) -> ReplicaObservation:
    """Return a replica as it is seen; without the partition, one with an empty log."""
    machine = sim.brokers[broker].machine
    disk = machine.disks.get(tp)
    batches = () if disk is None else tuple(disk.log.batches)
    # What a tiered log has in remote storage only is deleted, to the ladder.
    log_start = 0 if disk is None else disk.log.first_local()
    held = sim.brokers[broker].replicas.get(tp)
    if held is None or disk is None or held.role == NONE:
        return ReplicaObservation(batches, log_start, -1, NONE, -1, -1, machine.incarnation)
    hw = min(disk.log.hw, disk.log.leo)
    leader = broker if held.role == LEADER else held.leader
    return ReplicaObservation(
        batches, log_start, hw, held.role, leader, held.leader_epoch, machine.incarnation
    )


def record(sim: Simulation, tp: int) -> SeenRecord | None:
    """Return the record of a partition; None for one that is no more."""
    partition = sim.cluster.controller.records.get(tp)
    if partition is None:
        return None
    isr, replicas = frozenset(partition.isr), frozenset(partition.replicas)
    return SeenRecord(
        partition.leader, partition.leader_epoch, isr, replicas, frozenset(partition.elr)
    )
