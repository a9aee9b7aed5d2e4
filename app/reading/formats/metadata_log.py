"""The log of a KRaft controller, `__cluster_metadata-0`: every state of every partition."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from app.kafka import batches
from app.kafka.cursor import MalformedError
from app.kafka.history import EpochEntry, entries
from app.kafka.metadata import BrokerRecord
from app.reading.events import CONTROLLER, Event, EventData
from app.reading.files import Gathered, IncidentFile, owner_of
from app.reading.format import FormatRow, TextFormat
from app.reading.names import TopicIdentity, partition_named
from app.reading.sampling import FileSample
from engine.model.phrases import phrase

METADATA: Final = "__cluster_metadata-0"
SEGMENT: Final = re.compile(r"\d{20}\.log")


def is_segment(path: Path) -> bool:
    """Return whether this is a segment in the folder of a partition."""
    return bool(SEGMENT.fullmatch(path.name)) and partition_named(path.parent.name) is not None


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    if path.parent.name == METADATA and SEGMENT.fullmatch(path.name):
        return IncidentFile(path, "metadata", node or owner_of(path))
    return None


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    where = f"{source.path.parent.name}/{source.path.name}"
    with source.path.open("rb") as file:
        for batch in batches.stream(file):
            for entry in _entries(batch):
                yield from apply(gathered, entry, f"{where} offset {entry.offset}")


def apply(gathered: Gathered, entry: EpochEntry, where: str) -> Iterator[Event]:
    """Apply a record of the metadata log, and yield the events that it causes."""
    for stated in gathered.image.apply(entry):
        about = TopicIdentity(stated.topic, stated.index)
        if gathered.wanted in (None, about):
            stated_data: EventData = {"partition": about, "state": stated.state}
            yield Event(entry.time_ms, CONTROLLER, "state", where, stated_data)
    if isinstance(entry.record, BrokerRecord):
        data: EventData = {"broker": entry.record.broker}
        yield Event(entry.time_ms, CONTROLLER, entry.record.what, where, data)


def _entries(batch: batches.RecordBatch) -> Iterator[EpochEntry]:
    try:
        yield from entries([batch])
    except MalformedError as error:
        raise MalformedError(phrase("Offset {0}: {1}", batch.header.base, error.sentence)) from None


FORMAT: Final = TextFormat(
    "metadata",
    rows=(FormatRow((f"{METADATA}/*.log",), "incident.known.metadata"),),
    recognise=_recognise,
    read_file=_read,
)
