"""The segments of a partition: which batches exist now, of which leader epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from app.kafka import batches
from app.reading.events import Event
from app.reading.files import Gathered, IncidentFile, named_owner, owner_of
from app.reading.format import FormatRow, TextFormat
from app.reading.formats.metadata_log import is_segment
from app.reading.names import partition_named
from app.reading.sampling import FileSample
from engine.model.phrases import phrase


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    if not is_segment(path):
        return None
    return IncidentFile(path, "segment", node or owner_of(path) or named_owner(path))


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    if partition_named(source.path.parent.name) != gathered.wanted:
        return
    if not source.node:
        gathered.complain(
            phrase(
                "{0}: the broker of this segment is unknown; name the file like 2={1}.",
                source.path,
                f"{source.path.parent.name}/{source.path.name}",
            )
        )
        return
    replica = gathered.replica(source.node)
    if replica.start is None:
        replica.start = int(source.path.stem)
    with source.path.open("rb") as file:
        for header in batches.headers(file):
            gathered.add_batch(source.node, header.epoch, header.base, header.last, header.time_ms)
    yield from ()


FORMAT: Final = TextFormat(
    "segment",
    rows=(FormatRow(("orders-0/*.log",), "incident.known.segment"),),
    recognise=_recognise,
    read_file=_read,
)
