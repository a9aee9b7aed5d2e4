"""Contents of the cluster's disks, read while it runs and without asking a broker."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from app.kafka.batches import parse
from app.kafka.cursor import MalformedError
from app.kafka.history import Image, Stated, entries
from app.reading.formats import checkpoint

METADATA = "__cluster_metadata-0"


@dataclass(frozen=True, slots=True)
class LogOnDisk:
    """A replica's log: [start, end) and its records, (offset, value, epoch or None).

    `uncounted` are the offsets of records that the model has none of.
    """

    start: int
    end: int
    records: tuple[tuple[int, str, int | None], ...]
    uncounted: tuple[int, ...] = ()

    def counted(self, offset: int) -> int:
        """Return the number of records below an offset that the model has, too."""
        return offset - bisect_left(self.uncounted, offset)


ReadRecord = Callable[[bytes, bytes], "str | None"]
"""(key, value) -> what a record says."""


def as_text(key: bytes, value: bytes) -> str:
    return value.decode(errors="replace")


def segments(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob("*.log") if path.stem.isdigit())


def read_log(directory: Path, read: ReadRecord = as_text) -> LogOnDisk:
    """Return the log in a partition's directory; a torn batch at its end is not part of it.

    `read` returns the text of a record; None: it is not counted.
    """
    start = end = -1
    records: list[tuple[int, str, int | None]] = []
    uncounted = []
    for path in segments(directory):
        base = int(path.stem)
        start = base if start < 0 else start
        end = max(end, base)
        for batch in parse(_bytes(path)):
            end = batch.header.last + 1
            for (offset, value), key in zip_longest(batch.records or (), batch.keys):
                text = read(key or b"", value)
                if text is None:
                    uncounted.append(offset)
                else:
                    records.append((offset, text, batch.header.epoch))
    return LogOnDisk(max(start, 0), max(end, 0), tuple(records), tuple(uncounted))


def epochs(directory: Path) -> list[tuple[int, int]] | None:
    """Return the leader-epoch cache of a replica; None where its release keeps none."""
    text = _text(directory / checkpoint.EPOCHS)
    try:
        return None if text is None else checkpoint.epochs(text)
    except MalformedError:
        return None  # it is being written


def checkpointed(log_directory: Path, name: str, topic: str, index: int) -> int | None:
    """Return one entry of a checkpoint file such as replication-offset-checkpoint."""
    text = _text(log_directory / name)
    try:
        return None if text is None else checkpoint.offsets(text).get((topic, index))
    except MalformedError:
        return None


def cut_from(directory: Path, offset: int) -> None:
    """Cut every batch that reaches `offset`, as a power failure cuts what was not flushed."""
    for path in segments(directory):
        for batch in parse(_bytes(path)):
            if batch.header.last >= offset:
                with path.open("r+b") as file:
                    file.truncate(batch.header.at)
                break


class ControllerLog:
    """The KRaft controller's log as it grows: only what is new is read."""

    def __init__(self, log_directory: Path) -> None:
        self.directory = log_directory / METADATA
        self.image = Image()
        self.history: list[Stated] = []
        self._read: dict[Path, int] = {}

    def refresh(self) -> Image:
        """Return the image after everything that is on disk now."""
        for path in segments(self.directory):
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                batches = list(parse(file.read()))
            for entry in entries(batches):
                self.history += self.image.apply(entry)
            if batches:
                self._read[path] = self._read.get(path, 0) + batches[-1].header.end
        return self.image


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
