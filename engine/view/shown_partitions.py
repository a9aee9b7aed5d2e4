"""Partitions that are shown: existing ones, and what is left of deleted ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.model.records import DURING_DELETE, PartitionRecord
from engine.sim.simulation import Simulation

DELETING: Final = "deleting"
DELETED: Final = "deleted"


def partitions(sim: Simulation) -> Iterator[tuple[int, PartitionRecord, str]]:
    """Yield (number, record, "" or DELETING or DELETED), in order.

    Once the controller has no record of it any more, one is made up: its replicas are the brokers
    that still have a log.
    """
    k = sim.cluster.controller
    dying = {tp for name in k.deletions for tp in k.topics[name].tps}
    for tp in range(len(sim.cluster.names)):
        record = k.records.get(tp)
        if record is not None:
            yield tp, record, DELETING if tp in dying else ""
            continue
        holders = tuple(b for b, broker in sim.brokers.items() if tp in broker.machine.disks)
        if holders or tp in dying:
            left = PartitionRecord(holders, (), DURING_DELETE, -1, -1)
            yield tp, left, DELETING if tp in dying else DELETED
