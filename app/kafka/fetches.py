"""Fetch between brokers, decoded in every version from 0 to 18 (FetchRequest.json and its answer).

Only what replication is about is kept: offsets, epochs, high watermarks, batches.  Version 12 made
the message flexible (KIP-482), 13 names topics by id (KIP-516), 15 moved the replica's id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from app.kafka.batches import Header, parse
from app.kafka.cursor import ByteCursor
from engine.model.errors import name_of

T = TypeVar("T")

FLEXIBLE = 12
BY_TOPIC_ID = 13

FETCH = 1
LEADER_AND_ISR = 4
STOP_REPLICA = 5
OFFSET_FOR_LEADER_EPOCH = 23
ALTER_PARTITION = 56
BROKER_HEARTBEAT = 63
GROUP_HEARTBEAT = 12

NAMES = {
    LEADER_AND_ISR: "LeaderAndIsr",
    STOP_REPLICA: "StopReplica",
    OFFSET_FOR_LEADER_EPOCH: "OffsetForLeaderEpoch",
    ALTER_PARTITION: "AlterPartition",
}
"""Facts that are reported of the wire beside fetches."""


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """`body` is where the request's own fields begin, before the tags of a flexible version."""

    api: int
    version: int
    correlation: int
    client: str
    body: int


@dataclass(frozen=True, slots=True)
class PartitionFetch:
    """Fetch request of one partition; -1 where its version has no such field."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class Served:
    """Fetch response of one partition.  `diverging`: (epoch, end) of KIP-595."""

    topic: str
    partition: int
    error: str
    hw: int
    size: int = 0
    batches: tuple[Header, ...] = ()
    diverging: tuple[int, int] | None = None

    @property
    def idle(self) -> bool:
        """True where it has nothing new."""
        return not self.size and self.error == "NONE" and self.diverging is None


def header(frame: bytes) -> RequestHeader:
    """Return the header of a request without its length.  Raises MalformedError."""
    cursor = ByteCursor(frame)
    api, version, correlation = cursor.i16(), cursor.i16(), cursor.i32()
    client = cursor.text()
    return RequestHeader(api, version, correlation, client or "", cursor.at)


def replica_of(frame: bytes, head: RequestHeader) -> int:
    """Return the replica that fetches, where the request itself says so (before version 15)."""
    cursor = ByteCursor(frame, head.body)
    if head.version >= FLEXIBLE:
        cursor.tags()
    return cursor.i32()


def request(frame: bytes, head: RequestHeader) -> list[PartitionFetch]:
    """Return the partitions that a fetch asks for.  Raises MalformedError."""
    cursor, version = ByteCursor(frame, head.body), head.version
    flexible = version >= FLEXIBLE
    if flexible:
        cursor.tags()
    if version < 15:
        cursor.i32()  # replica
    cursor.i32()  # longest wait
    cursor.i32()  # fewest bytes
    if version >= 3:
        cursor.i32()  # most bytes
    if version >= 4:
        cursor.i8()  # isolation
    if version >= 7:
        cursor.i32()  # session
        cursor.i32()  # its epoch

    def partition(topic: str) -> PartitionFetch:
        number = cursor.i32()
        epoch = cursor.i32() if version >= 9 else -1
        offset = cursor.i64()
        if version >= FLEXIBLE:
            cursor.i32()  # last fetched epoch
        if version >= 5:
            cursor.i64()  # log start
        cursor.i32()
        if flexible:
            cursor.tags()
        return PartitionFetch(topic, number, offset, epoch)

    def topic() -> list[PartitionFetch]:
        name = _topic(cursor, version)
        partitions = _array(cursor, flexible, lambda: partition(name))
        if flexible:
            cursor.tags()
        return partitions

    return [part for parts in _array(cursor, flexible, topic) for part in parts]


def response(frame: bytes, version: int) -> list[Served]:
    """Return the response of each partition.

    `frame` begins with the correlation id.  Raises MalformedError.
    """
    cursor = ByteCursor(frame, 4)
    flexible = version >= FLEXIBLE
    if flexible:
        cursor.tags()
    if version >= 1:
        cursor.i32()  # throttled
    if version >= 7:
        cursor.i16()  # the error of the whole
        cursor.i32()  # session

    def topic() -> list[Served]:
        name = _topic(cursor, version)
        partitions = _array(cursor, flexible, lambda: _served(cursor, version, name))
        if flexible:
            cursor.tags()
        return partitions

    return [part for parts in _array(cursor, flexible, topic) for part in parts]


def _served(cursor: ByteCursor, version: int, topic: str) -> Served:
    flexible = version >= FLEXIBLE
    number, error, hw = cursor.i32(), name_of(cursor.i16()), cursor.i64()
    if version >= 4:
        cursor.i64()  # last stable offset
    if version >= 5:
        cursor.i64()  # log start

    def aborted() -> None:
        cursor.i64()
        cursor.i64()
        if flexible:
            cursor.tags()

    if version >= 4:
        _array(cursor, flexible, aborted)
    if version >= 11:
        cursor.i32()  # preferred replica to read from
    size = max(0, cursor.uvarint() - 1 if flexible else cursor.i32())
    data = cursor.take(size)
    tags = cursor.tags() if flexible else {}
    diverging = None
    if 0 in tags:
        tag = ByteCursor(tags[0])
        diverging = (tag.i32(), tag.i64())
    headers = tuple(batch.header for batch in parse(data))
    return Served(topic, number, error, hw, size, headers, diverging)


def _topic(cursor: ByteCursor, version: int) -> str:
    """Return the name of the topic, or its id in hex."""
    if version >= BY_TOPIC_ID:
        return cursor.take(16).hex()
    name = cursor.compact_text() if version >= FLEXIBLE else cursor.text()
    return name or ""


def _array(cursor: ByteCursor, flexible: bool, read: Callable[[], T]) -> list[T]:
    return cursor.compact_array(read) if flexible else cursor.array(read)
