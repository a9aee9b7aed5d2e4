"""A rolling restart: brokers are shut down and started one after the other, as operators do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.faults.faults import cannot_start, kill, shut_down, start
from engine.model.copying import shallow
from engine.model.state import DOWN, UP
from engine.sim.world import World

LOOK_MS: Final = 500
"""Interval at which the operator's tool checks whether it may go on."""
STOP_MS: Final = 60_000
"""A process that has not ended by then is killed."""


class Roll:
    """One pass over the brokers.

    `left` are those still to come, `broker` is the one at hand or -1, `stopping` whether its
    process is still to end, `since` when that was asked for, or when it was started again.
    `patience_ms` is how long to wait for it to catch up; 0: as long as it takes.
    """

    __slots__ = ("broker", "left", "patience_ms", "since", "stopping")

    def __init__(self, brokers: tuple[int, ...], patience_ms: int) -> None:
        self.left = list(brokers)
        self.patience_ms = patience_ms
        self.broker = -1
        self.stopping = False
        self.since = 0

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
    k, found = sim.cluster.controller, sim.brokers[broker].process
    return (
        found is not None
        and found.status == UP
        and k.alive
        and k.active(broker)
        and all(
            broker in record.isr
            for tp, record in k.records.items()
            if broker in record.replicas and tp not in found.offline
        )
    )
