"""What the observer remembers of a replica, so that it looks only where something changed."""

from __future__ import annotations

from engine.model.copying import Twins, shallow
from engine.model.state import Replica


class Seen:
    """What the checker saw last of one replica."""

    __slots__ = ("agreed", "epoch", "hw", "leo", "replica", "role")

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.leo = replica.log.leo
        self.hw = replica.log.hw
        self.role = -1
        self.epoch = -1
        self.agreed = 0

    def twin(self, twins: Twins) -> Seen:
        twin = shallow(self)
        twin.replica = twins.of(self.replica)
        return twin
