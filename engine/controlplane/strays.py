"""Strays: logs on disk of topics that are gone, or of partitions that moved away meanwhile."""

from __future__ import annotations

from collections.abc import Collection

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.quotas import TOPIC
from engine.model.records import PartitionRecord


def blocked(broker: Process, changed: dict[int, PartitionRecord | None]) -> Collection[int]:
    """7.7, KRaft.  Return new partitions whose name a stray log has: they are not made.

    Until 3.6 strays are deleted only after the first image has been applied
    (`BrokerMetadataPublisher.finishInitializingReplicaManager` at 3.6.2, KAFKA-14616).
    """
    machine = broker.machine
    if not broker.profile.stray_blocks_replica or not machine.disks:
        return ()
    names = {machine.topics.get(tp, (TOPIC, tp)) for tp in machine.disks}
    new = [tp for tp in changed if tp not in machine.disks]
    return [tp for tp in new if machine.topics.get(tp, (TOPIC, tp)) in names]


def delete(broker: Process, out: Effects) -> None:
    """7.7, KRaft 2.  Delete stray logs at the first image after a start.

    A stray is the log of a topic that is gone, or of a partition that has moved away meanwhile.
    """
    for tp in list(broker.machine.disks):
        record = broker.image.get(tp)
        if record is None or broker.id not in record.replicas:
            out.cue("CP-KR-APPLY.stray", broker.id, "stray", None, tp, tp=tp)
            del broker.machine.disks[tp]
            broker.machine.futures.pop(tp, None)
