"""Memory estimates of a replay, in bytes: measured once, quick to compute, and rather too high."""

from __future__ import annotations

import marshal
from typing import Any, Final

from engine.sim.simulation import Simulation

OF_A_VIEW: Final = 10
"""Bytes of Python objects for each byte of a view's size."""
OF_A_STEP: Final = 24
OF_A_REPLICA: Final = 3_000
OF_A_BATCH: Final = 20
"""In one replica's log: two references; the batch itself is shared."""
OF_AN_ENTRY: Final = 40
"""Bytes of an entry of a ledger, or of an event or a message that waits."""


def size_of(shown: Any) -> int:
    """Return about the bytes of a value as JSON: marshal writes as many, in a third of the time."""
    return len(marshal.dumps(shown, 0))


def of_simulation(sim: Simulation) -> int:
    """Return a copy of a simulation, beside what all copies share."""
    replicas = batches = 0
    entries = len(sim.kernel.pending) + 2 * len(sim.network.open)
    for broker in sim.brokers.values():
        replicas += len(broker.machine.disks)
        entries += sum(len(replica.waiting) for replica in broker.replicas.values())
        batches += sum(len(disk.log.batches) for disk in broker.machine.disks.values())
    ledger = sim.ledger
    entries += len(ledger.failed) + len(ledger.lost)
    for lists in (ledger.acked, ledger.committed, ledger.seen, ledger.sequences):
        entries += sum(map(len, lists))
    return OF_A_REPLICA * replicas + OF_A_BATCH * batches + OF_AN_ENTRY * entries
