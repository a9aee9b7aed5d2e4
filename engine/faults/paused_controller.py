"""A controller that freezes: its successor, and what it does when it wakes (1.4, 8.3, 10)."""

from __future__ import annotations

from typing import Final

from engine.controlplane import deposed
from engine.faults import faults
from engine.model.copying import Twins
from engine.model.declared import declared
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.state import DOWN, UP
from engine.sim.kernel import FAILURE
from engine.sim.world import World

KRAFT_FAILOVER_MS: Final = 3_000
"""A voter's fetch timeout (2 s) and an election."""


@declared
class FailOver:
    """End of a term, should no other controller have begun one by then."""

    term: int

    def twin(self, twins: Twins) -> FailOver:
        return self  # it never changes

    def __call__(self, sim: World) -> bool:
        k = sim.cluster.controller
        if k.alive or k.epoch != self.term:
            return False
        faults.start_controller(sim)
        faults.finish_controller_start(sim)
        return True


def pause_controller(sim: World) -> None:
    """8.3.  Freeze the active controller's process.

    Once its session is over (ZooKeeper), or the voters have waited long enough (KRaft), another
    controller begins the next term.
    """
    k = sim.cluster.controller

    def action(out: Effects) -> None:
        out.cue("CP-8.3.pause", CONTROLLER, "controller", "up", "paused")
        sim.cluster.zombie = zombie = k.copy()
        zombie.queued = tuple(b for b in k.brokers if sim.brokers[b].status == DOWN)
        k.alive = False
        sim.network.controller_up = False
        sim.network.break_connections(CONTROLLER)

    sim.act(FAILURE, CONTROLLER, "pause K", action)
    wait = KRAFT_FAILOVER_MS if sim.profile.kraft else sim.configs.session_timeout_ms
    sim.kernel.schedule(wait, FAILURE, CONTROLLER, FailOver(k.epoch))


def resume_controller(sim: World) -> None:
    """Resume a controller.  Without a successor it goes on; else it is a zombie for now."""
    k, zombie = sim.cluster.controller, sim.cluster.zombie
    assert zombie is not None
    took_over = k.epoch > zombie.epoch
    if not took_over:
        sim.cluster.zombie = None

    def action(out: Effects) -> None:
        out.cue("CP-8.3.resume", CONTROLLER, "controller", "paused", "up")
        if took_over:
            if not sim.profile.kraft:
                deposed.speak(zombie, out)
            return
        sim.network.controller_up = True
        running = {b for b, broker in sim.brokers.items() if broker.status == UP}
        deposed.go_on(k, running, out)
        for broker in sorted(running):
            faults.hear_again(sim, broker, out)

    sim.act(FAILURE, CONTROLLER, "resume K", action)


def finish_resume(sim: World) -> None:
    """Play the zombie's last step.

    What it writes or appends does not count (but for ZooKeeper before 2.1).
    """
    k, zombie = sim.cluster.controller, sim.cluster.zombie
    if zombie is not None:
        sim.cluster.zombie = None
        action = "controller resigns"
        sim.act(FAILURE, CONTROLLER, action, lambda out: deposed.resign(zombie, k, out))
