"""Parts of a state that can be compared between a search and a run by the clock.

A search goes by hand and looks between moves; a run has requests under way at all times.  So both
are compared by what brokers and controller hold, and only where no news is under way between them:
a *situation*.  Many states of a search are one situation.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from engine.explore.broker_key import DIGEST_BYTES
from engine.model.broker import Broker
from engine.model.messages import CONTROLLER
from engine.model.state import COMMITTED, DOWN, STARTING
from engine.sim.kernel import DELIVERY
from engine.sim.simulation import Simulation

Situation = bytes
"""A digest as wide as that of a state."""


def situation(sim: Simulation) -> Situation:
    """Return each broker's status, logs, marks and roles, and the controller's records.

    Left out: what is under way, fetchers, timers, checkpoints, clients.  Records are named in the
    order in which they are met here, since a search and a run call theirs differently.
    """
    names: dict[str, int] = {}

    def name(value: str) -> int:
        return names.setdefault(value, len(names))

    told = (
        [_broker(broker, name) for broker in sim.cluster.brokers.values()],
        _records(sim),
    )
    return blake2b(repr(told).encode(), digest_size=DIGEST_BYTES).digest()


def _broker(broker: Broker, name: Callable[[str], int]) -> Any:
    """Return a broker; one not registered yet counts as down, as by hand it registers at once."""
    logs = [
        (
            tp,
            disk.log.log_start,
            [(batch.epoch, name(value)) for batch in disk.log.batches for value in batch.values],
        )
        for tp, disk in broker.machine.disks.items()
    ]
    process = broker.process
    if process is None or process.status == STARTING:
        return DOWN, logs
    replicas = [
        (
            tp,
            replica.role,
            replica.leader,
            replica.leader_epoch,
            replica.log.hw,
            sorted(replica.isr),
            replica.pending != COMMITTED,
        )
        for tp, replica in process.replicas.items()
    ]
    return process.status, logs, replicas


def _records(sim: Simulation) -> Any:
    """Return the controller's records without the partition epoch, which counts writes."""
    controller = sim.cluster.controller
    records = [
        (tp, one.leader, one.leader_epoch, sorted(one.isr), one.elr, one.recovering)
        for tp, one in sorted(controller.records.items())
    ]
    return controller.alive, records


def at_rest(sim: Simulation) -> bool:
    """Check that nothing is under way between the controller and a broker.

    By hand such messages arrive at once, so that a search has no state in between.
    """
    for _, kind, _, _, m in sim.kernel.pending:
        if kind == DELIVERY and CONTROLLER in (m.src, m.dst):
            return False
    return True
