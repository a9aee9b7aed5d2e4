"""Files of brokers: source, owner, and the facts that readers gather from all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.kafka.history import Image
from app.reading.events import Event
from app.reading.names import BROKER, TopicIdentity, partition_named

LONGEST_LINE: Final = 64 * 1024
"""What is longer is read in pieces; only the first can begin with a time."""
_OWNER: Final = re.compile(r"^(?:broker|node)\.id=(\d+)\s*$", re.MULTILINE)

Complain = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class IncidentFile:
    """A file.

    `kind`: the name of its format; `node`: its owner, "" where that is unknown; `origins`: prefix
    of a line -> the node that wrote such lines; `tail`: its lines end with the name of their
    logger; `partition`: whose dump it is, where its lines have no name; `encoding`.
    """

    path: Path
    kind: str
    node: str
    origins: Mapping[str, str] = field(default_factory=dict)
    tail: bool = False
    partition: TopicIdentity | None = None
    encoding: str = ""


@dataclass(slots=True)
class ReplicaFiles:
    """A replica on a broker's disk now: runs of batches of one epoch, [epoch, first, last + 1)."""

    runs: list[tuple[int | None, int, int]] = field(default_factory=list)
    start: int | None = None
    hw: int | None = None
    epochs: list[tuple[int, int]] | None = None
    times: dict[int, int] = field(default_factory=dict)
    """Epoch -> when its last batch was made, in ms, by the clock of the client or leader."""

    @property
    def end(self) -> int:
        return self.runs[-1][2] if self.runs else (self.start or 0)


@dataclass(slots=True)
class Gathered:
    """Facts to which the readers of all formats add.

    `wanted` None: the lines of every partition.  `complain` takes a sentence about a file that is
    not as it should be.
    """

    wanted: TopicIdentity | None
    complain: Complain
    image: Image = field(default_factory=Image)
    replicas: dict[str, ReplicaFiles] = field(default_factory=dict)
    dumped: dict[TopicIdentity, Path] = field(default_factory=dict)
    """Partition -> the first file with a dump of its segments."""
    old_dump: bool = False
    """A dump is of a release to 2.0, which has no KRaft."""

    def replica(self, node: str) -> ReplicaFiles:
        return self.replicas.setdefault(node, ReplicaFiles())

    def add_batch(self, node: str, epoch: int | None, base: int, last: int, time_ms: int) -> None:
        """Add a batch to what lies on a node's disk."""
        replica = self.replica(node)
        if replica.runs and replica.runs[-1][0] == epoch and replica.runs[-1][2] == base:
            replica.runs[-1] = (epoch, replica.runs[-1][1], last + 1)
        else:
            replica.runs.append((epoch, base, last + 1))
        replica.times[-1 if epoch is None else epoch] = time_ms


Read = Callable[[IncidentFile, Gathered], Iterator[Event]]


def lines_of(path: Path, encoding: str = "") -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) of a file, in pieces where a line is longer than LONGEST_LINE."""
    if encoding:
        with path.open(encoding=encoding, errors="replace") as text:
            number = 0
            while piece := text.readline(LONGEST_LINE):
                number += 1
                yield number, piece.encode()
        return
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            yield number, line


def owner_of(path: Path) -> str:
    """Return the broker whose directory a file lies in, by its meta.properties.

    "" where there is none.
    """
    for parent in list(path.parents)[:2]:
        try:
            match = _OWNER.search((parent / "meta.properties").read_text()[:4_096])
        except (OSError, UnicodeDecodeError):
            continue
        if match:
            return match[1]
    return ""


def folder_partition(path: Path) -> TopicIdentity | None:
    """Return the partition whose folder a file lies in; None for a broker's, such as kafka-2."""
    name = path.parent.name
    return None if BROKER.fullmatch(name) else partition_named(name)


def named_owner(path: Path, most: int = 3) -> str:
    """Return the broker whose number the name of the file, or of one of its folders, has.

    As in kafka-2/data, broker2.log.  "" where there is none, or the names contradict each other.
    """
    stem = path.name.split(".")[0]
    parts = [part for part in (stem, *(parent.name for parent in path.parents[:most])) if part]
    numbers_found = [match[1] for part in parts if (match := BROKER.fullmatch(part))]
    numbers = {str(int(digits)) for digits in numbers_found}
    return numbers.pop() if len(numbers) == 1 else ""
