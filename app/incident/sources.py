"""Which file is what, whose it is, and what it tells.  Nothing here holds a file in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.incident import dumps, lines
from app.incident.events import CONTROLLER, Event, Topic, partition_named
from app.kafka import batches, checkpoints
from app.kafka.cursor import Malformed
from app.kafka.history import Entry, Image, entries
from app.kafka.metadata import BrokerRecord
from engine.model.errors import BadInput

MOST_FILES: Final = 10_000
LONGEST_LINE: Final = 64 * 1024
"""What is longer is read in pieces; only the first can begin with a time."""
LOOK: Final = 4 * 1024 * 1024
"""How far a log is read to find out which broker wrote it."""
METADATA: Final = "__cluster_metadata-0"
SEGMENT: Final = re.compile(r"\d{20}\.log")
CHECKPOINTS: Final = (
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "leader-epoch-checkpoint",
)
_OWNER: Final = re.compile(r"^(?:broker|node)\.id=(\d+)\s*$", re.MULTILINE)
_GIVEN: Final = re.compile(r"(\d{1,6}|K)=(.+)")

Complain = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """A file.  kind: "metadata", "segment", "text", "dump", or the name of a checkpoint; node: who
    it belongs to, "" where nothing says so."""

    path: Path
    kind: str
    node: str


@dataclass(slots=True)
class Replica:
    """What lies on a broker's disk now: runs of batches of one epoch, [epoch, first, last + 1)."""

    runs: list[tuple[int | None, int, int]] = field(default_factory=list)
    start: int | None = None
    hw: int | None = None
    epochs: list[tuple[int, int]] | None = None
    times: dict[int, int] = field(default_factory=dict)
    """Epoch -> when its last batch was made, in ms, by the clock of who made it."""

    @property
    def end(self) -> int:
        return self.runs[-1][2] if self.runs else (self.start or 0)


def found(arguments: tuple[str, ...]) -> list[Source]:
    """The files that are worth reading, by path.  An argument is a file or a directory;
    `3=server.log` says that it is broker 3's.  Raises BadInput for one that is not there."""
    sources: list[Source] = []
    for argument in arguments:
        given = None if Path(argument).exists() else _GIVEN.fullmatch(argument)
        node, path = (given[1], Path(given[2])) if given else ("", Path(argument))
        if not path.exists():
            raise BadInput("unknown", f"There is no file {path}.")
        every = sorted(path.rglob("*")) if path.is_dir() else [path]
        sources += [source for one in every if (source := _source(one, node)) is not None]
        if len(sources) > MOST_FILES:
            raise BadInput("too_large", f"These are more than {MOST_FILES} files.", str(path))
    if not sources:
        raise BadInput("unknown", "None of these is a log, a segment or a checkpoint of Kafka.")
    return _one_copy(sources)


def passed_over(arguments: tuple[str, ...], found: list[Source]) -> Iterator[str]:
    """One sentence for each log of an argument that nobody can read, so that none is missed."""
    read = {source.path for source in found}
    for argument in arguments:
        given = None if Path(argument).exists() else _GIVEN.fullmatch(argument)
        path = Path(given[2]) if given else Path(argument)
        for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if one not in read and one.suffix in (".log", ".txt", ".out") and one.is_file():
                yield unread(str(one), one)


def unread(name: str, path: Path) -> str:
    """Why a file is not read, in one sentence that calls it `name`."""
    if path.stat().st_size == 0:
        return f"{name} is empty."
    if path.parent.name == METADATA:
        return f"{name} is a shorter copy of the metadata log, and was not needed."
    return f"{name} is no log, segment, checkpoint or dump of Kafka, and was not read."


def _one_copy(sources: list[Source]) -> list[Source]:
    """Every node has a copy of the metadata log: that which reaches furthest is read."""
    copies: dict[Path, int] = {}
    for source in sources:
        if source.kind == "metadata":
            parent = source.path.parent
            copies[parent] = copies.get(parent, 0) + source.path.stat().st_size
    longest = max(copies, key=lambda one: (copies[one], str(one)), default=None)
    return [one for one in sources if one.kind != "metadata" or one.path.parent == longest]


def _source(path: Path, node: str) -> Source | None:
    if not path.is_file():
        return None
    if path.name in CHECKPOINTS:
        return Source(path, path.name, node or _owner(path))
    if path.suffix not in (".log", ".txt", ".out", "") and ".log." not in path.name:
        return None
    try:
        with path.open("rb") as file:
            head = file.read(4_096)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput("unknown", f"{path} cannot be read: {reason}.", str(path)) from None
    if SEGMENT.fullmatch(path.name) and partition_named(path.parent.name):
        kind = "metadata" if path.parent.name == METADATA else "segment"
        return Source(path, kind, node or _owner(path))
    if dumps.BEGINS in head or b"baseOffset: " in head:
        return Source(path, "dump", node)
    if any(lines.STAMP.match(line) for line in head.split(b"\n")):
        return Source(path, "text", node or _writer(path) or _owner(path))
    return None


def _owner(path: Path) -> str:
    """Whose directory a file lies in, as its meta.properties says."""
    for parent in list(path.parents)[:2]:
        try:
            match = _OWNER.search((parent / "meta.properties").read_text()[:4_096])
        except (OSError, UnicodeDecodeError):
            continue
        if match:
            return match[1]
    return ""


def _writer(path: Path) -> str:
    read = 0
    for _, line in _lines(path):
        speaker = lines.speaker_of(line)
        if speaker:
            return speaker
        read += len(line)
        if read > LOOK:
            break
    return ""


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            yield number, line


class Reader:
    """Reads sources; `complain` hears one sentence of each file that is not as it should be."""

    def __init__(self, wanted: Topic | None, complain: Complain) -> None:
        self.wanted = wanted
        self.complain = complain
        self.image = Image()
        self.replicas: dict[str, Replica] = {}

    def events(self, source: Source) -> Iterator[Event]:
        """What one file tells, in its own order."""
        try:
            if source.kind == "metadata":
                yield from self._metadata(source)
            elif source.kind == "dump":
                yield from self._dump(source)
            elif source.kind == "text":
                yield from self._text(source)
            elif source.kind == "segment":
                self._segment(source)
            else:
                self._checkpoint(source)
        except Malformed as error:
            self.complain(f"{source.path}: {error}")
        except OSError as error:
            self.complain(f"{source.path} cannot be read: {error.strerror}.")

    # -- text ------------------------------------------------------------------------------------

    def _text(self, source: Source) -> Iterator[Event]:
        topic = b"" if self.wanted is None else self.wanted.topic.encode()
        may_tell, binary = lines.may_tell, 0
        for number, line in _lines(source.path):
            if b"\0" in line and not binary:
                binary = number
            if may_tell(line, topic):
                event = lines.read(line, self.wanted, source.node, f"{source.path.name}:{number}")
                if event is not None:
                    yield event
        if binary:
            self.complain(f"{source.path}:{binary}: this line is no text and was passed over.")

    # -- the controller's log --------------------------------------------------------------------

    def _metadata(self, source: Source) -> Iterator[Event]:
        where = f"{source.path.parent.name}/{source.path.name}"
        with source.path.open("rb") as file:
            for batch in batches.stream(file):
                for entry in _entries(batch):
                    yield from self._apply(entry, f"{where} offset {entry.offset}")

    def _apply(self, entry: Entry, where: str) -> Iterator[Event]:
        for stated in self.image.apply(entry):
            about = Topic(stated.topic, stated.index)
            if self.wanted in (None, about):
                data = {"partition": about, "state": stated.state}
                yield Event(entry.time_ms, CONTROLLER, "state", where, data)
        if isinstance(entry.record, BrokerRecord):
            data = {"broker": entry.record.broker}
            yield Event(entry.time_ms, CONTROLLER, entry.record.what, where, data)

    # -- what kafka-dump-log printed -------------------------------------------------------------

    def _dump(self, source: Source) -> Iterator[Event]:
        about: Topic | None = None
        for number, line in _lines(source.path):
            text = line.decode(errors="replace")
            header = dumps.FILE.search(text)
            if header:
                about = partition_named(header[2])
                continue
            record = dumps.record_of(text)
            if record is not None:
                where = f"{source.path.name}:{number}"
                yield from self._apply(Entry(record[0], record[1], record[2]), where)
                continue
            batch = dumps.BATCH.search(text)
            if batch and about is not None and about == self.wanted:
                if not source.node:
                    self.complain(
                        f"{source.path}:{number}: whose segment this is, nothing says; name it "
                        f"like 2={source.path.name}."
                    )
                    return
                self._add(
                    source.node,
                    int(batch["epoch"]),
                    int(batch["base"]),
                    int(batch["last"]),
                    int(batch["time"]),
                )

    # -- disks -----------------------------------------------------------------------------------

    def _segment(self, source: Source) -> None:
        if partition_named(source.path.parent.name) != self.wanted or not source.node:
            return
        replica = self.replicas.setdefault(source.node, Replica())
        if replica.start is None:
            replica.start = int(source.path.stem)
        with source.path.open("rb") as file:
            for header in batches.headers(file):
                self._add(source.node, header.epoch, header.base, header.last, header.time_ms)

    def _add(self, node: str, epoch: int | None, base: int, last: int, time_ms: int) -> None:
        replica = self.replicas.setdefault(node, Replica())
        if replica.runs and replica.runs[-1][0] == epoch and replica.runs[-1][2] == base:
            replica.runs[-1] = (epoch, replica.runs[-1][1], last + 1)
        else:
            replica.runs.append((epoch, base, last + 1))
        replica.times[-1 if epoch is None else epoch] = time_ms

    def _checkpoint(self, source: Source) -> None:
        if self.wanted is None or not source.node:
            return
        try:
            text = source.path.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise Malformed(f"Byte {error.start}: this is not the text of a checkpoint.") from None
        if source.kind == "leader-epoch-checkpoint":
            if partition_named(source.path.parent.name) == self.wanted:
                replica = self.replicas.setdefault(source.node, Replica())
                replica.epochs = checkpoints.epochs(text)
            return
        key = (self.wanted.topic, self.wanted.index)
        offset = checkpoints.offsets(text).get(key)
        if offset is not None:
            replica = self.replicas.setdefault(source.node, Replica())
            if source.kind == "replication-offset-checkpoint":
                replica.hw = offset
            else:
                replica.start = offset


def _entries(batch: batches.Batch) -> Iterator[Entry]:
    try:
        yield from entries([batch])
    except Malformed as error:
        raise Malformed(f"Offset {batch.header.base}: {error}") from None
