"""Facts about the running cluster, in the form in which recordings keep them.

    P: {leader, le, pe, isr, and where they are not empty elr, lastKnown, recovering, adding,
        removing}
    a replica: {leo, hw, epochs: [[epoch, start], ...] or null, log: "m0@0 m1@0", start?, down?}

Everything is read from disks and from the controller; no broker is asked.  A replica of a broker
that is down is what its disk says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from app.kafka.metadata import PartitionMetadata
from app.lab import disk
from app.lab.cluster import RealCluster

Fact = dict[str, Any]

_OPTIONAL: Final = {
    "elr": "elr",
    "lastKnown": "last_known_elr",
    "recovering": "recovering",
    "adding": "adding",
    "removing": "removing",
}


@dataclass(slots=True)
class Adjusted:
    """Epochs that the laboratory's own operations cost, subtracted from what is read."""

    partition_epoch: int = 0
    leader_epoch: int = 0


def record(partition: PartitionMetadata, adjusted: Adjusted) -> Fact:
    """Return the record of a partition as a fact."""
    fact: Fact = {
        "leader": partition.leader,
        "le": partition.leader_epoch - adjusted.leader_epoch,
        "pe": partition.partition_epoch - adjusted.partition_epoch,
        "isr": sorted(partition.isr),
    }
    for key, name in _OPTIONAL.items():
        value = getattr(partition, name)
        if value:
            fact[key] = list(value) if isinstance(value, tuple) else value
    return fact


def replica(cluster: RealCluster, broker: int, topic: str, adjusted: Adjusted) -> Fact | None:
    """Return the replica of partition 0 as it is on a broker's disk; None where it has none."""
    logs = cluster.log_directory(broker)
    directory = logs / f"{topic}-0"
    if not directory.is_dir():
        return None
    log = disk.read_log(directory)
    start = disk.checkpointed(logs, "log-start-offset-checkpoint", topic, 0)
    start = log.start if start is None else start
    epochs = disk.epochs(directory)
    lower = adjusted.leader_epoch
    fact: Fact = {
        "leo": log.end,
        "hw": disk.checkpointed(logs, "replication-offset-checkpoint", topic, 0),
        "epochs": None if epochs is None else [[epoch - lower, at] for epoch, at in epochs],
        "log": " ".join(
            value if epoch is None else f"{value}@{epoch - lower}"
            for offset, value, epoch in log.records
            if offset >= start
        ),
    }
    if start:
        fact["start"] = start
    if not cluster.alive(broker):
        fact["down"] = True
    return fact


def format_record(fact: Fact | None) -> str:
    """Return a partition's record as scripts write it: P{1 0 2 [1] elr [3] last [2]}."""
    if fact is None:
        return "P?"
    parts = [f"{fact['leader']} {fact['le']} {fact['pe']} {_ids(fact['isr'])}"]
    for key, word in (("elr", "elr"), ("lastKnown", "last")):
        if fact.get(key):
            parts.append(f"{word} {_ids(fact[key])}")
    return "P{" + " ".join(parts) + "}" + (" RECOVERING" if fact.get("recovering") else "")


def _ids(brokers: list[int]) -> str:
    return "[" + ",".join(map(str, brokers)) + "]"
