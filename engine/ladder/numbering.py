"""States as numbers: replicas and controller records are numbered as they are first met.

A state is these numbers side by side, each replica's in its own bits, the controller's on top.
"""

from __future__ import annotations

from typing import Final

from engine.ladder.state import AbstractCluster, AbstractController, AbstractReplica
from engine.ladder.tables import TooLargeError

BITS: Final = 20
"""Bits of a replica's number."""
MASK: Final = (1 << BITS) - 1
Announced = tuple[tuple[int, int], ...]
"""Announcements of one leader, each as (epoch, in-sync set)."""


class Numbering:
    """The numbers of all parts that were met, and of the states made of them."""

    def __init__(self, replicas: int) -> None:
        self.shifts = [BITS * replica for replica in range(replicas)]
        self.top = BITS * replicas
        self.replicas: list[AbstractReplica] = []
        self.controllers: list[AbstractController] = []
        self.announced: list[Announced] = []
        self._of_replica: dict[AbstractReplica, int] = {}
        self._of_controller: dict[AbstractController, int] = {}
        self._of_announced: dict[Announced, int] = {}

    def number(self, cluster: AbstractCluster) -> int:
        state = self.controller_number(cluster.controller) << self.top
        for replica, shift in zip(cluster.replicas, self.shifts, strict=True):
            state |= self.replica_number(replica) << shift
        return state

    def cluster(self, state: int) -> AbstractCluster:
        """Return the state of a number, to be shown."""
        return AbstractCluster(
            tuple(self.replicas[state >> shift & MASK] for shift in self.shifts),
            self.controllers[state >> self.top],
        )

    def replica_number(self, replica: AbstractReplica) -> int:
        """Raise TooLargeError beyond what the bits can distinguish."""
        number = self._of_replica.setdefault(replica, len(self.replicas))
        if number == len(self.replicas):
            if number > MASK:
                raise TooLargeError(f"A single replica has more than {MASK:,} states.")
            self.replicas.append(replica)
        return number

    def controller_number(self, controller: AbstractController) -> int:
        number = self._of_controller.setdefault(controller, len(self.controllers))
        if number == len(self.controllers):
            self.controllers.append(controller)
        return number

    def announced_number(self, announced: Announced) -> int:
        number = self._of_announced.setdefault(announced, len(self.announced))
        if number == len(self.announced):
            self.announced.append(announced)
        return number
