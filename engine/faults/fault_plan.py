"""Fault plans: strikes by a rate or a schedule (control-plane 8), with a tally of random draws.

Each target has its own stream of chance, so that one target's luck does not depend on another's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify
from typing import Final, Self

from engine.faults.fault_record import Strikes
from engine.faults.faults import cannot_start, kill, shut_down, start
from engine.faults.plan_kinds import PLAN_KINDS, stopped_by_another
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh, unset
from engine.model.state import DOWN, UP
from engine.sim.kernel import FAILURE, Chance
from engine.sim.world import World

LOOK_MS: Final = 500
"""Interval at which the operator's tool checks whether it may go on."""
STOP_MS: Final = 60_000
"""A process that has not ended by then is killed."""


@declared
class Roll:
    """One pass over the brokers.

    `left` are those still to come, `broker` is the one at hand or -1, `stopping` whether its
    process is still to end, `since` when that was asked for, or when it was started again.
    `patience_ms` is how long to wait for it to catch up; 0: as long as it takes.
    """

    left: list[int]
    patience_ms: int
    broker: int = begins(-1)
    stopping: bool = begins(False)
    since: int = begins(0)

    def copy(self) -> Roll:
        twin = shallow(self)
        twin.left = self.left.copy()
        return twin

    def look(self, sim: World, stop_at: int, spared: Callable[[int], bool]) -> bool:
        """Do what is due; True when the pass is over.  No broker is taken after `stop_at`.

        A broker that does not run when its turn comes is passed over; one that another fault has
        stopped meanwhile (`spared`) is left to that fault's repair.
        """
        if self.broker >= 0:
            if self.stopping and not self._started(sim, spared):
                return False
            if not self.stopping and not self._is_done(sim):
                return False
            self.broker = -1
        while self.left and sim.now <= stop_at:
            broker = self.left.pop(0)
            if sim.brokers[broker].status == UP:
                self.broker, self.stopping, self.since = broker, True, sim.now
                shut_down(sim, broker)
                return False
        return True

    def _started(self, sim: World, spared: Callable[[int], bool]) -> bool:
        """Start the process once it has ended.  True if it is not ours to start."""
        if sim.brokers[self.broker].status != DOWN:
            if sim.now - self.since < STOP_MS:
                return False
            kill(sim, self.broker)
        if spared(self.broker) or cannot_start(sim, self.broker):
            return True
        self.stopping, self.since = False, sim.now
        start(sim, self.broker)
        return False

    def _is_done(self, sim: World) -> bool:
        if self.patience_ms and sim.now - self.since >= self.patience_ms:
            return True
        return is_caught_up(sim, self.broker)


def is_caught_up(sim: World, broker: int) -> bool:
    """Check that a broker runs, is unfenced, and in the ISR of all it can read."""
    k, process = sim.cluster.controller, sim.brokers[broker].process
    return (
        process is not None
        and process.status == UP
        and k.alive
        and k.active(broker)
        and all(
            broker in record.isr
            for tp, record in k.records.items()
            if broker in record.replicas and tp not in process.offline
        )
    )


@declared
class FaultPlan(Strikes):
    """One line of a fault plan for one group of brokers: strikes, repairs, strikes again.

    A call is one turn; the kernel holds the plan itself as the event's payload.  `draws` waits of a
    rate have ended in a strike, `waited_ms` passed while one was awaited: what the weight of a run
    with an importance factor is made of.  In a future that was redrawn (`reseed`) a rate is the
    true one, so that the weight stays as it was then.  `strikes` holds [when, brokers, until when].
    """

    stop_at: int
    began: int = begins(0)
    mean_ms: int = unset()
    armed_at: int = begins(-1)
    anew: bool = begins(False)
    draws: int = begins(0)
    waited_ms: int = begins(0)
    strikes: list[tuple[int, tuple[int, ...], int]] = fresh(list)
    roll: Roll | None = begins(None)

    def __post_init__(self) -> None:
        self.mean_ms = self.fault.struck_every_ms

    def twin(self, twins: Twins) -> Self:
        twin = Strikes.twin(self, twins)
        twin.strikes = self.strikes.copy()
        twin.roll = self.roll and self.roll.copy()
        return twin

    def first(self, sim: World) -> None:
        self.began = sim.now
        if self.fault.at_ms < 0:
            self._arm(sim)
        elif sim.now + self.fault.at_ms <= self.stop_at:
            sim.kernel.schedule(self.fault.at_ms, FAILURE, min(self.group), self)

    def __call__(self, sim: World) -> bool:
        if self.roll is not None:
            return self._go_on(sim)
        kind = PLAN_KINDS[self.fault.kind]
        if self.struck and kind.repair is not None:
            struck = self._over(sim)
            kind.repair(sim, struck, self)
            self._arm(sim)
            return True
        if self.armed_at >= 0:
            if not self.anew:
                self.draws += 1
                self.waited_ms += sim.now - self.armed_at
            self.armed_at = -1
        running = kind.running(sim, self.group)
        if not running:
            self._arm(sim)
            return True
        self.struck = self.group if kind.whole else running
        self.strikes.append((sim.now, self.struck, -1))
        if kind.strike is None:
            self.roll = Roll(list(self.struck), self.fault.mttr_ms)
            self._go_on(sim)
            return True
        before = sim.events
        kind.strike(sim, self.struck, self)
        if kind.repair is None:
            self.struck = ()
            self._arm(sim)
            return sim.events > before
        if self.fault.mttr_ms:
            mttr = self.fault.mttr_ms
            wait = mttr if self.fault.at_ms >= 0 else self.chance.exponential(mttr)
            sim.kernel.schedule(wait, FAILURE, min(self.group), self)
        return True

    def _over(self, sim: World) -> tuple[int, ...]:
        """Note that the strike has ended and return the brokers it had struck."""
        struck, self.struck = self.struck, ()
        self.strikes[-1] = (self.strikes[-1][0], struck, sim.now)
        return struck

    def _go_on(self, sim: World) -> bool:
        """Look once at a rolling restart; another look follows unless it is over."""
        assert self.roll is not None
        before = sim.events

        def spared(broker: int) -> bool:
            return stopped_by_another(sim, broker, self)

        if self.roll.look(sim, self.stop_at, spared):
            self.roll = None
            self._over(sim)
            self._arm(sim)
        else:
            sim.kernel.schedule(LOOK_MS, FAILURE, min(self.group), self)
        return sim.events > before

    def exposure_ms(self, now: int) -> int:
        """Return how long strikes of a rate have been drawn, up to now."""
        if self.armed_at < 0 or self.anew:
            return self.waited_ms
        return self.waited_ms + min(now, self.stop_at) - self.armed_at + 1

    def reseed(self, sim: World, chance: Chance) -> None:
        """Redraw the future: a wait of a rate has no memory, so its rest is a whole new wait.

        The strike that was awaited must have left the queue.
        """
        self.chance = chance
        if self.armed_at >= 0 and not self.anew:
            self.waited_ms += min(sim.now, self.stop_at) - self.armed_at
        self.at_true_rate()
        if self.armed_at >= 0:
            self._arm(sim)

    def at_true_rate(self) -> None:
        """Drop the importance factor from now on.

        The share of a present's futures that break something is a question about the true rates.
        """
        self.anew = True
        self.mean_ms = self.fault.mtbf_ms

    def _arm(self, sim: World) -> None:
        if self.fault.at_ms >= 0:
            return
        self.armed_at = min(sim.now, self.stop_at)
        wait = self.chance.exponential(self.mean_ms)
        if sim.now + wait <= self.stop_at:
            sim.kernel.schedule(wait, FAILURE, min(self.group), self)


def scheduled_plans(sim: World, stop_at: int) -> list[FaultPlan]:
    """Start every line of the scenario's fault plan."""
    plans = []
    for number, fault in enumerate(sim.scenario.faults):
        for index, (group, directory) in enumerate(fault.targets(sim.scenario.brokers)):
            if group:
                chance = Chance(sim.seed, f"fault {number} {index}")
                plan = FaultPlan(fault, group, directory, chance, stop_at)
                if sim.drawn_anew:
                    plan.at_true_rate()
                plans.append(plan)
                plan.first(sim)
    return plans


def reseed_plans(sim: World, plans: Sequence[FaultPlan], seed: int, number: int) -> None:
    """Reseed the fault plan for future number `number`."""
    awaited = [plan for plan in plans if plan.armed_at >= 0]
    pending = sim.kernel.pending
    pending[:] = [event for event in pending if not any(event[4] is plan for plan in awaited)]
    heapify(pending)
    for index, plan in enumerate(plans):
        plan.reseed(sim, Chance(seed, f"future {number} fault {index}"))
