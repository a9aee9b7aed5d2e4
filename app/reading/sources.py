"""The files that are worth reading, and a sentence for each one that is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from app.kafka.cursor import MalformedError
from app.reading import sampling
from app.reading.events import Event
from app.reading.files import Gathered, IncidentFile
from app.reading.formats import BY_NAME, FORMATS
from app.reading.formats.checkpoint import NOT_NEEDED
from app.reading.formats.metadata_log import METADATA
from app.reading.sampling import FileSample
from engine.model.errors import InputError
from engine.model.phrases import phrase

MOST_FILES: Final = 10_000
GIVEN: Final = re.compile(r"(\d{1,6}|K)=(.+)")
_LOGS: Final = (".log", ".txt", ".out", ".err", ".json", ".jsonl", ".ndjson", ".csv", "")
"""Endings of files in a folder that may be logs; a file that is named itself may have any."""
_OF_KAFKA: Final = re.compile(
    r"\.(?:index|timeindex|txnindex|snapshot|checkpoint|deleted|cleaned|swap|properties)$"
    r"|^(?:partition\.metadata|quorum-state|\.lock|\.kafka_cleanshutdown)$"
)
_PACKED: Final = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")


def _named(argument: str) -> tuple[str, Path]:
    given = None if Path(argument).exists() else GIVEN.fullmatch(argument)
    return (given[1], Path(given[2])) if given else ("", Path(argument))


def readable_files(arguments: tuple[str, ...]) -> list[IncidentFile]:
    """Return the files that are worth reading, by path.

    An argument is a file or a directory; `3=server.log` says that it is broker 3's.  Raises
    InputError for one that is not there.
    """
    sources: list[IncidentFile] = []
    refused: list[tuple[Path, Path]] = []
    for argument in arguments:
        node, path = _named(argument)
        if not path.exists():
            raise InputError("unknown", "There is no file {0}.", path)
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            source = _source(file, node, file == path)
            if source is not None and BY_NAME[source.kind].read_file is not None:
                sources.append(source)
            elif file.is_file():
                refused.append((file, path))
        if len(sources) > MOST_FILES:
            raise InputError(
                "too_large", "These are more than {0} files.", MOST_FILES, where=str(path)
            )
    if not sources:
        if len(refused) == 1 and refused[0][0] == refused[0][1]:
            raise InputError("unknown", unread(str(refused[0][0]), refused[0][0]))
        raise InputError("unknown", "None of these is a log, a segment or a checkpoint of Kafka.")
    return _one_copy(sources)


def passed_over(arguments: tuple[str, ...], files: list[IncidentFile]) -> Iterator[str]:
    """Yield one sentence for each file that is not read, but may have been meant."""
    read = {source.path for source in files}
    for argument in arguments:
        _, path = _named(argument)
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file in read or not file.is_file():
                continue
            if file == path or (not is_of_kafka(file) and _may_be_log(file)):
                yield unread(str(file), file)


def is_of_kafka(path: Path) -> bool:
    """Return whether a file lies beside logs and checkpoints and has no other facts."""
    return path.name in NOT_NEEDED or bool(_OF_KAFKA.search(path.name))


def unread(name: str, path: Path) -> str:
    """Return why a file is not read, in one sentence that calls it `name`."""
    if path.stat().st_size == 0:
        return phrase("{0} is empty.", name)
    if path.parent.name == METADATA:
        return phrase("{0} is a shorter copy of the metadata log, and was not needed.", name)
    if any(part in path.name for part in NOT_NEEDED):
        return phrase("{0} is a checkpoint of Kafka that is not needed here.", name)
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(_PACKED):
        return phrase("{0} is compressed: unpack it first.", name)
    sample = sampling.sample_file(path)
    if sample.counted:
        return phrase(
            "{0} looks like a checkpoint; give it the name that it has on the broker, such as "
            "2=replication-offset-checkpoint.",
            name,
        )
    if sample.described:
        return phrase(
            "{0} is the output of kafka-topics.sh --describe: paste it into Your cluster "
            "(/cluster).",
            name,
        )
    return phrase("{0} is not a log, segment, checkpoint or dump of Kafka, and was skipped.", name)


def _one_copy(sources: list[IncidentFile]) -> list[IncidentFile]:
    """Keep one copy of the metadata log, which every node has: the one that reaches furthest."""
    copies: dict[Path, int] = {}
    for source in sources:
        if source.kind == "metadata":
            parent = source.path.parent
            copies[parent] = copies.get(parent, 0) + source.path.stat().st_size
    longest = max(copies, key=lambda folder: (copies[folder], str(folder)), default=None)
    return [file for file in sources if file.kind != "metadata" or file.path.parent == longest]


def _may_be_log(path: Path) -> bool:
    return path.suffix.lower() in _LOGS or ".log." in path.name


def _source(path: Path, node: str, meant: bool) -> IncidentFile | None:
    """Find the first format that recognises a file.

    `meant`: it was named itself, and not found in a folder.
    """
    if not path.is_file():
        return None

    @cache
    def sample() -> FileSample:
        if not meant and not _may_be_log(path):
            return FileSample()
        return sampling.sample_file(path)

    try:
        return next(
            (
                source
                for form in FORMATS
                if form.recognise and (source := form.recognise(path, node, sample))
            ),
            None,
        )
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            "unknown", "{0} cannot be read: {1}.", path, reason, where=str(path)
        ) from None


def events_of(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    """Yield the events of one file, in its own order; add its facts to `gathered`.

    A sentence about a damaged file is a complaint.
    """
    read = BY_NAME[source.kind].read_file
    try:
        if read is not None:
            yield from read(source, gathered)
    except MalformedError as error:
        gathered.complain(phrase("{0}: {1}", source.path, error.sentence))
    except OSError as error:
        gathered.complain(phrase("{0} cannot be read: {1}.", source.path, error.strerror))
