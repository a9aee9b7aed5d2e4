"""The observer's memory of a replica, so that it checks only where something changed."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from engine.model.broker import Process
from engine.model.compiling import mypyc_attr
from engine.model.state import Replica

_opened: Final = attrgetter("opened")


def in_order(process: Process, tps: Sequence[int] | None) -> list[Replica]:
    """Return the replicas of these partitions (None: of all), each once, as they were opened."""
    replicas = process.replicas
    if tps is None:
        return list(replicas.values())
    if len(tps) < 2:
        return [replicas[tp] for tp in tps if tp in replicas]
    return sorted([replicas[tp] for tp in set(tps) if tp in replicas], key=_opened)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class ReplicaMemory:
    """Last state of one replica that the checker saw."""

    __slots__ = ("agreed", "epoch", "hw", "leo", "replica", "role")

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.leo = replica.log.leo
        self.hw = replica.log.hw
        self.role = -1
        self.epoch = -1
        self.agreed = 0

    def copy(self) -> ReplicaMemory:
        twin = ReplicaMemory.__new__(ReplicaMemory)
        twin.agreed = self.agreed
        twin.epoch = self.epoch
        twin.hw = self.hw
        twin.leo = self.leo
        twin.replica = self.replica
        twin.role = self.role
        return twin
