"""Output of `kafka-dump-log`, of the metadata log or of segments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from app.kafka.history import EpochEntry
from app.reading import dumps
from app.reading.events import Event, TopicIdentity, partition_named
from app.reading.files import (
    Gathered,
    IncidentFile,
    folder_partition,
    lines_of,
    named_owner,
    owner_of,
)
from app.reading.format import FileFormat, FormatRow
from app.reading.formats.metadata_log import METADATA, apply
from app.reading.sampling import FileSample
from engine.model.phrases import phrase

_IN_NAME: Final = re.compile(r"([A-Za-z0-9._-]+?-\d{1,6})(?:[-_.](?:dump|segment|log))*\.\w+")
_PROMPT: Final = re.compile(r"[\s:/]([A-Za-z0-9._-]+-\d{1,6})\]?\s*[$#>](?:\s|$)")


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    found = sample()
    if not found.dumped or found.dumped < found.logged:
        return None
    match = _IN_NAME.fullmatch(path.name)
    partition = (partition_named(match[1]) if match else None) or folder_partition(path)
    owner = node or owner_of(path) or named_owner(path)
    return IncidentFile(path, "dump", owner, partition=partition, encoding=found.encoding)


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    about, named = _guessed(source.partition, gathered.wanted), True
    for number, line in lines_of(source.path, source.encoding):
        text = line.decode(errors="replace")
        header = dumps.FILE.search(text)
        if header:
            about, named = partition_named(header[1]), True
            if about is not None and str(about) != METADATA:
                gathered.dumped.setdefault(about, source.path)
            continue
        if dumps.BARE.search(text):
            named = about is not None
            continue
        record = dumps.record_of(text)
        if record is not None:
            where = f"{source.path.name}:{number}"
            yield from apply(gathered, EpochEntry(record[0], record[1], record[2]), where)
            continue
        batch = _batch(text)
        if batch is None:
            prompt = _PROMPT.search(text)
            about = _guessed(partition_named(prompt[1]), gathered.wanted) if prompt else about
            continue
        gathered.old_dump |= batch[0] is None
        if gathered.wanted is None or str(about) == METADATA:
            continue
        sentence = _unusable(source, number, about, named, gathered.wanted)
        if sentence:
            gathered.complain(sentence)
            return
        if about == gathered.wanted:
            gathered.add_batch(source.node, *batch)


def _batch(text: str) -> tuple[int | None, int, int, int] | None:
    """Return (epoch, first offset, last, time in ms) of a batch, or of a record up to 2.0."""
    batch = dumps.BATCH.search(text)
    if batch is not None:
        epoch, base, last, time_ms = (int(batch[one]) for one in ("epoch", "base", "last", "time"))
        return epoch, base, last, time_ms
    record = dumps.OLD_RECORD.match(text)
    offset = int(record[1]) if record else 0
    return (None, offset, offset, int(record[2] or -1)) if record else None


def _guessed(about: TopicIdentity | None, wanted: TopicIdentity | None) -> TopicIdentity | None:
    """Return the partition in the name of a file, a folder or a prompt.

    Only if it is one of the topic that is looked at: broker-2 and dump-3 have the same form.
    """
    return about if about and wanted and about.topic == wanted.topic else None


def _unusable(
    source: IncidentFile,
    number: int,
    about: TopicIdentity | None,
    named: bool,
    wanted: TopicIdentity,
) -> str:
    """Return why the batches of a dump cannot be used, and what to do; "" where they can."""
    path = source.path
    if about is None or not named:
        return phrase(
            "{0}: kafka-dump-log was called inside the folder of a partition, so its output does "
            "not say of which; name it like {1}.",
            f"{path}:{number}",
            f"{source.node or 2}={wanted}.txt",
        )
    if about == wanted and not source.node:
        return phrase(
            "{0}: the broker of this segment is unknown; name the file like 2={1}.",
            f"{path}:{number}",
            path.name,
        )
    return ""


FORMAT: Final = FileFormat(
    "dump",
    (
        FormatRow(
            ("kafka-dump-log --cluster-metadata-decoder", "kafka-dump-log --files"),
            "incident.known.dump",
        ),
    ),
    _recognise,
    _read,
)
