"""Facts about the running cluster, in the form in which recordings keep them.

Everything is read from disks and from the controller; no broker is asked.  A replica of a broker
that is down is what its disk says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from app.kafka.metadata import PartitionMetadata
from app.lab import disk
from app.lab.cluster import RealCluster
from app.lab.disk import ReadRecord
from app.reading.formats import checkpoint
from engine.scenarios.expectations import record_notation


class PartitionFact(TypedDict):
    """Record of a partition; what is empty or false is left out."""

    leader: int
    le: int
    pe: int
    isr: list[int]
    elr: NotRequired[list[int]]
    lastKnown: NotRequired[list[int]]
    recovering: NotRequired[bool]
    adding: NotRequired[list[int]]
    removing: NotRequired[list[int]]


class ReplicaFact(TypedDict):
    """A replica: `epochs` [epoch, start], null before there were any; `log` as "m0@0 m1@0"."""

    leo: int
    hw: int | None
    epochs: list[list[int]] | None
    log: str
    start: NotRequired[int]
    down: NotRequired[bool]


class VoterFact(TypedDict):
    """State of a voter, its quorum-state file (`leader` and `vote` are names), and its log.

    `end`, `hw` and the starts in `epochs` count from the end of the log when the run began.
    `epochs` are those that have begun since; `hw` is null but for a leader that knows it.
    """

    state: str
    epoch: int
    leader: str
    vote: str
    end: int
    epochs: list[list[int]]
    hw: int | None


class GroupFact(TypedDict):
    """A group as its coordinator describes it; `coordinator` is null if none answers.

    `members` has [name, partitions that it owns], `offsets` [partition, committed offset].
    """

    coordinator: NotRequired[int | None]
    state: NotRequired[str]
    members: NotRequired[list[list[Any]]]
    offsets: NotRequired[list[list[int]]]


class MemberFact(TypedDict):
    """A client of a group: the exception that it got last, and what it says of itself if it runs.

    `at` has [partition, position], `polled` the records that are not processed.
    """

    alive: bool
    failed: str
    member: NotRequired[str]
    generation: NotRequired[int]
    owns: NotRequired[list[int]]
    at: NotRequired[list[list[int]]]
    polled: NotRequired[list[str]]


class CopiesFact(TypedDict):
    """Record of a partition, and the replica of each broker that may hold one."""

    P: PartitionFact | None
    brokers: dict[str, ReplicaFact | None]


class LabFacts(CopiesFact):
    """Partition 0 and, by their numbers in the model, the others; voters, groups and members."""

    partitions: NotRequired[dict[str, CopiesFact]]
    voters: NotRequired[dict[str, VoterFact]]
    groups: NotRequired[dict[str, GroupFact]]
    members: NotRequired[dict[str, MemberFact]]


@dataclass(slots=True)
class Adjusted:
    """Epochs that the laboratory's own operations cost, subtracted from what is read."""

    partition_epoch: int = 0
    leader_epoch: int = 0


@dataclass(slots=True)
class LabPartition:
    """A partition whose facts are read: its topic, its number there, and how its log is read."""

    topic: str
    index: int
    replicas: list[int]
    adjusted: Adjusted = field(default_factory=Adjusted)
    read: ReadRecord = disk.as_text


def record(partition: PartitionMetadata, adjusted: Adjusted) -> PartitionFact:
    """Return the record of a partition as a fact."""
    fact: PartitionFact = {
        "leader": partition.leader,
        "le": partition.leader_epoch - adjusted.leader_epoch,
        "pe": partition.partition_epoch - adjusted.partition_epoch,
        "isr": sorted(partition.isr),
    }
    if partition.elr:
        fact["elr"] = list(partition.elr)
    if partition.last_known_elr:
        fact["lastKnown"] = list(partition.last_known_elr)
    if partition.recovering:
        fact["recovering"] = True
    if partition.adding:
        fact["adding"] = list(partition.adding)
    if partition.removing:
        fact["removing"] = list(partition.removing)
    return fact


def replica(cluster: RealCluster, broker: int, of: LabPartition) -> ReplicaFact | None:
    """Return a replica as it is on a broker's disk; None where it has none."""
    logs, topic, index = cluster.log_directory(broker), of.topic, of.index
    directory = logs / f"{topic}-{index}"
    if not directory.is_dir():
        return None
    log = disk.read_log(directory, of.read)
    start = disk.checkpointed(logs, checkpoint.STARTS, topic, index)
    start = log.start if start is None else start
    hw = disk.checkpointed(logs, checkpoint.MARKS, topic, index)
    epochs = disk.epochs(directory)
    lower = of.adjusted.leader_epoch
    fact: ReplicaFact = {
        "leo": log.counted(log.end),
        "hw": None if hw is None else log.counted(hw),
        "epochs": (
            None if epochs is None else [[epoch - lower, log.counted(at)] for epoch, at in epochs]
        ),
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


def format_record(fact: PartitionFact | None) -> str:
    """Return a partition's record as scripts write it: P{1 0 2 [1] elr [3] last [2]}."""
    if fact is None:
        return "P?"
    state = fact["leader"], fact["le"], fact["pe"]
    text = record_notation(state, fact["isr"], fact.get("elr", ()), fact.get("lastKnown", ()))
    return text + (" RECOVERING" if fact.get("recovering") else "")
