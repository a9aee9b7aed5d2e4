"""Fault plans: strikes by a rate or a schedule (control-plane 8), with a tally of what chance did.

Each target has its own stream of chance, so that one target's luck does not depend on another's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify
from typing import TYPE_CHECKING, Final

from engine.model.messages import CONTROLLER
from engine.model.state import DOWN, PAUSED, UP
from engine.sim.faults import (
    bounce,
    cannot_start,
    cut,
    heal,
    kill,
    pause,
    power,
    resume,
    slow,
    slow_disk,
    start,
    wipe,
)
from engine.sim.kernel import FAILURE, Chance

if TYPE_CHECKING:
    from engine.scenarios.parts import Fault
    from engine.sim.simulation import Simulation


def _peers(sim: Simulation, broker: int) -> list[int]:
    return [b for b in sim.brokers if b != broker]


def _strike_kill(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    kill(sim, broker)


def _strike_power(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    power(sim, broker, chance)


def _strike_wipe(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    wipe(sim, broker)


def _strike_pause(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    pause(sim, broker)


def _strike_bounce(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    bounce(sim, broker)


def _strike_cut(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    for peer in _peers(sim, broker):
        cut(sim, broker, peer)


def _strike_cut_controller(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    cut(sim, broker, CONTROLLER)


def _strike_slow(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    for peer in _peers(sim, broker):
        slow(sim, broker, peer, fault.delay_ms)


def _strike_slow_disk(sim: Simulation, broker: int, fault: Fault, chance: Chance) -> None:
    slow_disk(sim, broker, fault.records_per_s)


def _repair_start(sim: Simulation, broker: int) -> None:
    if sim.brokers[broker].status == DOWN and not cannot_start(sim, broker):
        start(sim, broker)


def _repair_resume(sim: Simulation, broker: int) -> None:
    if sim.brokers[broker].status == PAUSED:
        resume(sim, broker)


def _repair_cut(sim: Simulation, broker: int) -> None:
    for peer in _peers(sim, broker):
        heal(sim, broker, peer)


def _repair_cut_controller(sim: Simulation, broker: int) -> None:
    heal(sim, broker, CONTROLLER)


def _repair_slow(sim: Simulation, broker: int) -> None:
    for peer in _peers(sim, broker):
        slow(sim, broker, peer, 0)


def _repair_slow_disk(sim: Simulation, broker: int) -> None:
    slow_disk(sim, broker, 0)


def _repair_nothing(sim: Simulation, broker: int) -> None:
    """A bounce repairs itself."""


Strike = Callable[["Simulation", int, "Fault", Chance], None]
PLAN_KINDS: Final[dict[str, tuple[Strike, Callable[[Simulation, int], None]]]] = {
    "kill": (_strike_kill, _repair_start),
    "power": (_strike_power, _repair_start),
    "wipe": (_strike_wipe, _repair_start),
    "pause": (_strike_pause, _repair_resume),
    "bounce": (_strike_bounce, _repair_nothing),
    "cut": (_strike_cut, _repair_cut),
    "cut_controller": (_strike_cut_controller, _repair_cut_controller),
    "slow": (_strike_slow, _repair_slow),
    "slow_disk": (_strike_slow_disk, _repair_slow_disk),
}


class Plan:
    """One line of a fault plan for one group of brokers: strikes, repairs, strikes again.

    A call is one turn; the kernel holds the plan itself as the event's payload.  `draws` waits of
    a rate have ended in a strike, `waited_ms` passed while one was awaited: what the weight of a
    run with an importance factor is made of.  `strikes` holds [when, brokers, until when].
    """

    __slots__ = (
        "armed_at",
        "began",
        "chance",
        "draws",
        "fault",
        "group",
        "mean_ms",
        "stop_at",
        "strikes",
        "struck",
        "waited_ms",
    )

    def __init__(
        self, fault: Fault, group: tuple[int, ...], chance: Chance, stop_at: int
    ) -> None:
        self.fault = fault
        self.group = group
        self.chance = chance
        self.began = 0
        self.stop_at = stop_at
        self.mean_ms = fault.struck_every_ms
        self.struck: tuple[int, ...] = ()
        self.armed_at = -1
        self.draws = 0
        self.waited_ms = 0
        self.strikes: list[tuple[int, tuple[int, ...], int]] = []

    def first(self, sim: Simulation) -> None:
        """Schedules the first strike."""
        self.began = sim.now
        if self.fault.at_ms < 0:
            self._arm(sim)
        elif sim.now + self.fault.at_ms <= self.stop_at:
            sim.kernel.schedule(self.fault.at_ms, FAILURE, min(self.group), self)

    def __call__(self, sim: Simulation) -> bool:
        strike, repair = PLAN_KINDS[self.fault.kind]
        fault = self.fault
        if self.struck:
            struck, self.struck = self.struck, ()
            self.strikes[-1] = (self.strikes[-1][0], struck, sim.now)
            for broker in struck:
                repair(sim, broker)
            self._arm(sim)
            return True
        if self.armed_at >= 0:
            self.draws += 1
            self.waited_ms += sim.now - self.armed_at
            self.armed_at = -1
        self.struck = tuple(b for b in self.group if sim.brokers[b].status == UP)
        if self.struck:
            self.strikes.append((sim.now, self.struck, -1))
        for broker in self.struck:
            strike(sim, broker, fault, self.chance)
        if fault.kind == "bounce" or not self.struck:
            self.struck = ()
            self._arm(sim)
        elif fault.mttr_ms:
            wait = fault.mttr_ms if fault.at_ms >= 0 else self.chance.exponential(fault.mttr_ms)
            sim.kernel.schedule(wait, FAILURE, min(self.group), self)
        return True

    def exposure_ms(self, now: int) -> int:
        """How long chance was asked for a strike of a rate, up to now."""
        if self.armed_at < 0:
            return self.waited_ms
        return self.waited_ms + min(now, self.stop_at) - self.armed_at + 1

    def reseed(self, sim: Simulation, chance: Chance) -> None:
        """Draws the future anew: a wait of a rate has no memory, so what is left of it is a whole
        new wait.  The strike that was awaited must have left the queue."""
        self.chance = chance
        if self.armed_at >= 0:
            self.waited_ms += min(sim.now, self.stop_at) - self.armed_at
            self._arm(sim)

    def _arm(self, sim: Simulation) -> None:
        if self.fault.at_ms >= 0:
            return
        self.armed_at = min(sim.now, self.stop_at)
        wait = self.chance.exponential(self.mean_ms)
        if sim.now + wait <= self.stop_at:
            sim.kernel.schedule(wait, FAILURE, min(self.group), self)


def schedule_plans(sim: Simulation, stop_at: int) -> None:
    """Sets every line of the scenario's fault plan going."""
    for number, fault in enumerate(sim.scenario.faults):
        groups: Iterable[tuple[int, ...]] = fault.groups(sim.scenario.brokers)
        for index, group in enumerate(groups):
            if group:
                chance = Chance(sim.seed, f"fault {number} {index}")
                plan = Plan(fault, group, chance, stop_at)
                sim.plans.append(plan)
                plan.first(sim)


def reseed_plans(sim: Simulation, seed: int, number: int) -> None:
    """The fault plan strikes as chance will have it in future number `number`."""
    awaited = [plan for plan in sim.plans if plan.armed_at >= 0]
    pending = sim.kernel.pending
    pending[:] = [event for event in pending if not any(event[4] is plan for plan in awaited)]
    heapify(pending)
    for index, plan in enumerate(sim.plans):
        plan.reseed(sim, Chance(seed, f"future {number} fault {index}"))
