"""The records of the KRaft controller's log on brokers and partitions (KIP-631).

Kinds that say nothing about either are skipped.  The layouts are those of Kafka 3.0 to 4.1; later
versions add tagged fields, which are read past.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from app.kafka.cursor import ByteCursor

SAME_LEADER: Final = -2
REGISTER_CONTROLLER: Final = 27


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """Record of a partition as the controller has it (control-plane 2).

    The replicas are ids of brokers; `leader` is -1 where there is none.
    """

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    recovering: bool = False
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicRecord:
    name: str
    topic_id: bytes


@dataclass(frozen=True, slots=True)
class RemoveTopicRecord:
    topic_id: bytes


@dataclass(frozen=True, slots=True)
class MetadataPartitionRecord:
    topic_id: bytes
    index: int
    state: PartitionMetadata


@dataclass(frozen=True, slots=True)
class PartitionChangeRecord:
    """Changes of a partition: names of fields of Partition with new values.

    A `leader` that is written, even as the same one, starts a new leader epoch.
    """

    topic_id: bytes
    index: int
    changes: dict[str, tuple[int, ...] | int | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokerRecord:
    """Change of a broker: "registered", "fenced", "unfenced" or "leaving"."""

    broker: int
    epoch: int
    what: str


@dataclass(frozen=True, slots=True)
class ClearElrRecord:
    """Clearing of the ELR of a topic, or of all (None), without a partition record."""

    topic: str | None


@dataclass(frozen=True, slots=True)
class ConfigRecord:
    """Change of a configuration; `kind` 2 is a topic, 4 a broker (ConfigResource)."""

    kind: int
    name: str
    key: str
    value: str | None


Record = (
    TopicRecord
    | RemoveTopicRecord
    | MetadataPartitionRecord
    | PartitionChangeRecord
    | BrokerRecord
    | ClearElrRecord
    | ConfigRecord
)

_LISTS: Final = {
    0: "isr",
    2: "replicas",
    3: "removing",
    4: "adding",
    6: "elr",
    7: "last_known_elr",
}
"""The tagged fields of a PartitionChangeRecord that are lists of brokers."""


def parse(value: bytes) -> Record | None:
    """Return the record in the value of a metadata batch; None for kinds that are not used here.

    Raises MalformedError.
    """
    cursor = ByteCursor(value)
    kind, version = _kind(cursor), cursor.uvarint()
    read = _READERS.get(kind)
    return None if read is None else read(cursor, version)


def registers_controller(value: bytes) -> bool:
    """Check for the record with which every controller that starts registers itself (KIP-919)."""
    return _kind(ByteCursor(value)) == REGISTER_CONTROLLER


def _kind(cursor: ByteCursor) -> int:
    cursor.uvarint()  # the frame's version
    return cursor.uvarint()


def _ids(cursor: ByteCursor) -> tuple[int, ...]:
    return tuple(cursor.compact_array(cursor.i32))


def _topic(cursor: ByteCursor, version: int) -> Record:
    return TopicRecord(cursor.compact_text() or "", cursor.take(16))


def _remove_topic(cursor: ByteCursor, version: int) -> Record:
    return RemoveTopicRecord(cursor.take(16))


def _partition(cursor: ByteCursor, version: int) -> Record:
    index, topic_id = cursor.i32(), cursor.take(16)
    replicas, isr, removing, adding = (_ids(cursor) for _ in range(4))
    leader, leader_epoch, partition_epoch = cursor.i32(), cursor.i32(), cursor.i32()
    if version >= 1:
        cursor.compact_array(lambda: cursor.take(16))  # directories, KIP-858
    tags = cursor.tags()
    state = PartitionMetadata(
        leader,
        leader_epoch,
        partition_epoch,
        isr,
        replicas,
        _ids(ByteCursor(tags[1])) if 1 in tags else (),
        _ids(ByteCursor(tags[2])) if 2 in tags else (),
        bool(tags.get(0, b"\0")[0]),
        adding,
        removing,
    )
    return MetadataPartitionRecord(topic_id, index, state)


def _change(cursor: ByteCursor, version: int) -> Record:
    index, topic_id = cursor.i32(), cursor.take(16)
    changes: dict[str, tuple[int, ...] | int | bool] = {}
    for number, data in cursor.tags().items():
        if number in _LISTS:
            changes[_LISTS[number]] = _ids(ByteCursor(data))
        elif number == 1:
            changes["leader"] = ByteCursor(data).i32()
        elif number == 5:
            changes["recovering"] = bool(data[0])
    return PartitionChangeRecord(topic_id, index, changes)


def changed(state: PartitionMetadata, record: PartitionChangeRecord) -> PartitionMetadata:
    """Return the state after a change (PartitionRegistration.merge).

    One partition epoch more, and one leader epoch more where a leader is written.
    """
    changes = dict(record.changes)
    if "leader" in changes:
        changes["leader_epoch"] = state.leader_epoch + 1
        if changes["leader"] == SAME_LEADER:
            del changes["leader"]
    changes["partition_epoch"] = state.partition_epoch + 1
    return replace(state, **changes)  # type: ignore[arg-type]


def _register(cursor: ByteCursor, version: int) -> Record:
    broker = cursor.i32()
    if version >= 2:
        cursor.i8()  # is it migrating from ZooKeeper?
    cursor.take(16)  # incarnation
    return BrokerRecord(broker, cursor.i64(), "registered")


def _fence(cursor: ByteCursor, version: int) -> Record:
    return BrokerRecord(cursor.i32(), cursor.i64(), "fenced")


def _unfence(cursor: ByteCursor, version: int) -> Record:
    return BrokerRecord(cursor.i32(), cursor.i64(), "unfenced")


def _registration_change(cursor: ByteCursor, version: int) -> Record | None:
    broker, epoch, tags = cursor.i32(), cursor.i64(), cursor.tags()
    fenced = ByteCursor(tags[0]).i8() if 0 in tags else 0
    leaving = ByteCursor(tags[1]).i8() if 1 in tags else 0
    what = {1: "fenced", -1: "unfenced"}.get(fenced) or ("leaving" if leaving == 1 else "")
    return BrokerRecord(broker, epoch, what) if what else None


def _config(cursor: ByteCursor, version: int) -> Record:
    kind, name, key = cursor.i8(), cursor.compact_text() or "", cursor.compact_text() or ""
    return ConfigRecord(kind, name, key, cursor.compact_text())


def _clear_elr(cursor: ByteCursor, version: int) -> Record:
    return ClearElrRecord(cursor.compact_text() or None)


_READERS: Final = {
    0: _register,
    2: _topic,
    3: _partition,
    4: _config,
    5: _change,
    7: _fence,
    8: _unfence,
    9: _remove_topic,
    17: _registration_change,
    28: _clear_elr,
}
