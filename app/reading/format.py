"""The shape of a format of text or files: its name, what recognises it, and its readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.reading.facts import Facts
from app.reading.files import IncidentFile, Read
from app.reading.sampling import FileSample

Colour = Literal["state", "setting", "quorum", "log", "remark", "named"]
Recognise = Callable[[Path, str, Callable[[], FileSample]], IncidentFile | None]
"""(path, the node that was named with it, a sample of it when needed) -> the source, or None."""


@dataclass(frozen=True)
class PastedLine:
    """A line with its number in what was pasted; `text` has no prefix and no blanks around it."""

    number: int
    text: str


@dataclass
class PasteContext:
    """Facts of earlier lines about the next ones.

    They are the broker, folder, topic or ZooKeeper node of a prompt or a header.  `guess`: a broker
    that the name of a host has a number of.
    """

    facts: Facts
    topic: str = ""
    broker: int = -1
    guess: int = -1
    file: str = ""
    partition: str = ""
    znode: str = ""


ReadLines = Callable[[Sequence[PastedLine], int, PasteContext], int]
"""Lines, the index of the first, context -> how many lines were read; 0: another format's."""


@dataclass(frozen=True, slots=True)
class FormatRow:
    """A row of the table of files: the files as code, and the key of their description."""

    files: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A format of pasted lines, of files, or of both.

    Lines: `read_lines`, the kind that the page colours them by, and the `commands` that
    print them; `cluster.known.<name>` describes them.  Files: `recognise`, `read_file` (None: a
    file that is recognised and not needed), and the `rows` that describe them.
    """

    name: str
    colour: Colour = "state"
    commands: tuple[str, ...] = ()
    read_lines: ReadLines | None = None
    rows: tuple[FormatRow, ...] = ()
    recognise: Recognise | None = None
    read_file: Read | None = None
