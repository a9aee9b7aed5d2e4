"""Partitions that are shown: existing ones, and what is left of deleted ones; not all of many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, TypedDict

from engine.model.records import DURING_DELETE, PartitionRecord
from engine.sim.simulation import Simulation

DELETING: Final = "deleting"
DELETED: Final = "deleted"
ALL_SHOWN: Final = 64
"""Most partitions of a cluster of which all are shown."""
SOME_SHOWN: Final = 16
"""Partitions shown of a larger cluster; at most half of them for their records."""


class PartitionsMore(TypedDict):
    """Partitions that a view leaves out: how many, and how many without leader or full ISR."""

    n: int
    leaderless: int
    under: int


Shown = tuple[int, PartitionRecord, str]
"""(number, record, "" or DELETING or DELETED) of a partition."""


def partitions(sim: Simulation) -> Iterator[Shown]:
    """Yield the partitions in order.

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


def shown_partitions(sim: Simulation) -> tuple[list[Shown], PartitionsMore | None]:
    """Return the partitions that are shown, in order, and a count of the others, if any.

    Of more than `ALL_SHOWN` these are the first that clients write to or that hold records, then
    the first in trouble, then the first.
    """
    every = list(partitions(sim))
    if len(every) <= ALL_SHOWN:
        return every, None
    trouble = [row for row in every if _is_in_trouble(row[1])]
    chosen = {row[0] for row in islice(_used(sim, every), SOME_SHOWN // 2)}
    for entry in chain(trouble, every):
        if len(chosen) == SOME_SHOWN:
            break
        chosen.add(entry[0])
    hidden = [record for tp, record, _ in trouble if tp not in chosen]
    return [row for row in every if row[0] in chosen], {
        "n": len(every) - len(chosen),
        "leaderless": sum(record.leader < 0 for record in hidden),
        "under": len(hidden),
    }


def _used(sim: Simulation, every: list[Shown]) -> Iterator[Shown]:
    """Yield the partitions that a workload names, or whose leader has records."""
    named = {producer.partition for producer in sim.scenario.workload.producers}
    disks = {number: broker.machine.disks for number, broker in sim.brokers.items()}
    for entry in every:
        tp, record, _ = entry
        disk = disks[record.leader].get(tp) if record.leader >= 0 else None
        if tp in named or (disk is not None and disk.log.leo > 0):
            yield entry


def _is_in_trouble(record: PartitionRecord) -> bool:
    """Check whether a partition has no leader, or fewer replicas in sync than it should."""
    return record.leader < 0 or len(record.isr) < len(record.replicas)
