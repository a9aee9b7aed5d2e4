"""The controller's log, folded into states.

Every state that it gave each partition, and every change of a broker, in the order of its offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from app.kafka.batches import RecordBatch
from app.kafka.metadata import (
    BrokerRecord,
    ClearElrRecord,
    ConfigRecord,
    MetadataPartitionRecord,
    PartitionChangeRecord,
    PartitionMetadata,
    Record,
    RemoveTopicRecord,
    TopicRecord,
    changed,
    parse,
)


@dataclass(frozen=True, slots=True)
class EpochEntry:
    """One record of the log.  `time_ms`: when the controller wrote its batch, by its own clock."""

    offset: int
    time_ms: int
    record: Record


@dataclass(frozen=True, slots=True)
class Stated:
    """New record of a partition."""

    offset: int
    time_ms: int
    topic: str
    index: int
    state: PartitionMetadata


def entries(batches: Iterable[RecordBatch]) -> Iterator[EpochEntry]:
    """Yield the records of a metadata log that are used here.  Raises MalformedError."""
    for batch in batches:
        if batch.header.control or batch.records is None:
            continue  # control batches are Raft's own
        for offset, value in batch.records:
            record = parse(value) if value else None
            if record is not None:
                yield EpochEntry(offset, batch.header.time_ms, record)


@dataclass(slots=True)
class Image:
    """State after the records up to now."""

    topics: dict[bytes, str] = field(default_factory=dict)
    partitions: dict[tuple[bytes, int], PartitionMetadata] = field(default_factory=dict)
    brokers: dict[int, str] = field(default_factory=dict)
    """The last thing that became of each broker: "registered", "fenced", "unfenced", "leaving"."""
    epochs: dict[int, int] = field(default_factory=dict)
    """Broker epoch of each broker's last registration."""
    configs: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict)

    def apply(self, entry: EpochEntry) -> list[Stated]:
        """Apply one record; return the partitions whose state it changes."""
        record = entry.record
        if isinstance(record, TopicRecord):
            self.topics[record.topic_id] = record.name
        elif isinstance(record, RemoveTopicRecord):
            self.topics.pop(record.topic_id, None)
            for key in [key for key in self.partitions if key[0] == record.topic_id]:
                del self.partitions[key]
        elif isinstance(record, MetadataPartitionRecord):
            return [self._state(entry, record.topic_id, record.index, record.state)]
        elif isinstance(record, PartitionChangeRecord):
            before = self.partitions.get((record.topic_id, record.index))
            if before is not None:
                after = changed(before, record)
                return [self._state(entry, record.topic_id, record.index, after)]
        elif isinstance(record, ClearElrRecord):
            return self._clear_elr(entry, record)
        elif isinstance(record, BrokerRecord):
            self.brokers[record.broker] = record.what
            if record.what == "registered":
                self.epochs[record.broker] = record.epoch
        elif isinstance(record, ConfigRecord):
            settings = self.configs.setdefault((record.kind, record.name), {})
            if record.value is None:
                settings.pop(record.key, None)
            else:
                settings[record.key] = record.value
        return []

    def id_of(self, topic: str) -> bytes | None:
        """Return the id of the topic that has this name now."""
        return next((one for one, name in self.topics.items() if name == topic), None)

    def partition(self, topic: str, index: int) -> PartitionMetadata | None:
        topic_id = self.id_of(topic)
        return None if topic_id is None else self.partitions.get((topic_id, index))

    def _state(
        self, entry: EpochEntry, topic_id: bytes, index: int, state: PartitionMetadata
    ) -> Stated:
        self.partitions[topic_id, index] = state
        name = self.topics.get(topic_id, topic_id.hex())
        return Stated(entry.offset, entry.time_ms, name, index, state)

    def _clear_elr(self, entry: EpochEntry, record: ClearElrRecord) -> list[Stated]:
        """KIP-966: clear the ELR; no partition record is written, so no epoch moves."""
        states = []
        for (topic_id, index), state in list(self.partitions.items()):
            if record.topic in (None, self.topics.get(topic_id)) and (
                state.elr or state.last_known_elr
            ):
                cleared = replace(state, elr=(), last_known_elr=())
                states.append(self._state(entry, topic_id, index, cleared))
        return states
