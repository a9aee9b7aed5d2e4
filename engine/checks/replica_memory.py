"""The observer's memory of a replica, so that it checks only where something changed."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from engine.model.broker import Process
from engine.model.compiling import mypyc_attr
from engine.model.copying import shallow
from engine.model.state import LEADER, Replica

_opened: Final = attrgetter("opened")


def in_order(process: Process, tps: Sequence[int] | None) -> list[int]:
    """Return the hosted ones of these partitions (None: all), in the order of the replicas."""
    replicas = process.replicas
    if tps is None:
        return list(replicas)
    hosted = [replicas[tp] for tp in set(tps) if tp in replicas]
    return [replica.tp for replica in sorted(hosted, key=_opened)]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class ReplicaMemory:
    """Last state of one replica that the checker saw; it was compared below offset `agreed`."""

    __slots__ = ("agreed", "epoch", "hw", "leo", "replica", "role")

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.leo = replica.log.leo
        self.hw = replica.log.hw
        self.role = -1
        self.epoch = -1
        self.agreed = 0

    def copy(self) -> ReplicaMemory:
        return shallow(self)

    def keeps_leading(self) -> bool:
        """Check whether the replica leads the epoch in which it led when it was seen."""
        replica = self.replica
        return self.role == LEADER == replica.role and self.epoch == replica.leader_epoch
