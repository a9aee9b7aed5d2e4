"""Targets struck by a line of a fault plan, as the simulation and other lines see them."""

from __future__ import annotations

from typing import Self

from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh
from engine.scenarios.fault_lines import Fault
from engine.sim.kernel import Chance


@declared
class Strikes:
    """One line of a fault plan for one group of brokers.

    `struck` are the brokers that are yet to be repaired.  `directory` is the log directory that is
    meant, 0 for none; `failed` what failed of whom; `played` the moves of an operator, "" if none
    was possible.
    """

    fault: Fault
    group: tuple[int, ...]
    directory: int
    chance: Chance
    struck: tuple[int, ...] = begins(())
    failed: dict[int, int] = fresh(dict)
    played: list[str] = fresh(list)

    def twin(self, twins: Twins) -> Self:
        """Return a copy that goes on as this one would."""
        twin = shallow(self)
        twin.chance = self.chance.copy()
        twin.failed = self.failed.copy()
        twin.played = self.played.copy()
        return twin
