"""Records of __consumer_offsets: commits and generations of groups with the classic protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.kafka.cursor import ByteCursor

NEWEST_COMMIT_KEY: Final = 1
GENERATION_KEY: Final = 2
FLEXIBLE: Final = 4
"""Version of generations from which fields are compact; up to 4.4 none is written."""


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """OffsetCommitKey and OffsetCommitValue; `epoch` is -1 before version 3 (KIP-320)."""

    group: str
    topic: str
    partition: int
    offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """Member of a generation; `assigned` are the partitions of all its topics."""

    member: str
    instance: str
    client: str
    assigned: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GenerationRecord:
    """GroupMetadataKey and GroupMetadataValue."""

    group: str
    generation: int
    members: tuple[MemberRecord, ...]


def parse(key: bytes, value: bytes) -> CommitRecord | GenerationRecord | None:
    """Return a record; None for one of another kind, or a tombstone.  Raises MalformedError."""
    keys, values = ByteCursor(key), ByteCursor(value)
    kind = keys.i16()
    if not value or kind > GENERATION_KEY:
        return None
    version, group = values.i16(), keys.text() or ""
    if kind <= NEWEST_COMMIT_KEY:
        topic, partition, offset = keys.text() or "", keys.i32(), values.i64()
        return CommitRecord(group, topic, partition, offset, values.i32() if version >= 3 else -1)
    if version >= FLEXIBLE:
        return None
    values.text()  # the protocol's type
    generation = values.i32()
    values.text()  # the assignor
    values.text()  # the member that leads
    if version >= 2:
        values.i64()
    members = values.array(lambda: _member(values, version))
    return GenerationRecord(group, generation, tuple(members))


def _member(values: ByteCursor, version: int) -> MemberRecord:
    member = values.text() or ""
    instance = (values.text() or "") if version >= 3 else ""
    client = values.text() or ""
    values.text()  # the host
    values.take(8 if version >= 1 else 4)  # the timeouts of rebalances and of the session
    values.take(max(0, values.i32()))  # its subscription
    return MemberRecord(member, instance, client, _assigned(values.take(max(0, values.i32()))))


def _assigned(assignment: bytes) -> tuple[int, ...]:
    """Return the partitions of a ConsumerProtocolAssignment."""
    if not assignment:
        return ()
    cursor = ByteCursor(assignment, 2)
    topics = cursor.array(lambda: (cursor.text(), cursor.array(cursor.i32)))
    return tuple(sorted(partition for _, partitions in topics for partition in partitions))
