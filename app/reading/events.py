"""One event of a file: time, clock, kind, and the line it is written in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypedDict

from app.kafka.metadata import PartitionMetadata
from app.reading.names import TopicIdentity

CONTROLLER: Final = "K"
"""The KRaft controller as a node; a ZooKeeper-era controller is one of the brokers."""


class RecordChange(TypedDict, total=False):
    """Fields of a `PartitionMetadata` that a change names."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    recovering: bool
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class EventData(TypedDict, total=False):
    """Values of an event, as far as its kind has them.

    `le` and `pe` are the leader and the partition epoch, `to` the offset to which a log is cut,
    `own` an offset out of range, `before` the ISR that is changed, `set` the replicas; `zk`: only a
    cluster with ZooKeeper writes such a line; `heard`: a broker was told of it; `since`: the first
    release with such a line.  `old` and `new`
    are the record before and after a change.  `fields`, `changes` and
    `lags` are parts of the line that are taken apart into others.
    """

    partition: TopicIdentity
    topic: str
    index: int
    tp: str
    fields: str
    changes: str
    lags: str
    broker: int
    brokers: list[int]
    leader: int
    le: int
    pe: int
    isr: list[int]
    before: list[int]
    set: list[int]
    replicas: list[int]
    elr: list[int]
    last_known_elr: list[int]
    adding: list[int]
    removing: list[int]
    offline: list[int]
    recovering: bool
    zk: bool
    heard: bool
    leo: int
    hw: int
    to: int
    own: int
    epoch: int
    end: int
    lagging: dict[int, int]
    old: RecordChange
    new: RecordChange
    state: PartitionMetadata
    version: str
    properties: str
    directory: str
    why: str
    since: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Event:
    """An event; `time_ms` is by the clock of `node`: "K", a broker's id, or "" for unknown."""

    time_ms: int
    node: str
    kind: str
    where: str
    data: EventData = field(default_factory=EventData)
