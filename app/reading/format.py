"""A format of files: its recognition, its reader, and the facts it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.reading.files import IncidentFile, Read
from app.reading.sampling import FileSample

Recognise = Callable[[Path, str, Callable[[], FileSample]], IncidentFile | None]
"""(path, the node that was named with it, a sample of it when needed) -> the source, or None."""


@dataclass(frozen=True, slots=True)
class FormatRow:
    """A row of the table of formats: the files as code, and the key of their description."""

    files: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class FileFormat:
    """`rows`: what the page and the docs say of it; `read` None: recognised, and not needed."""

    name: str
    rows: tuple[FormatRow, ...]
    recognise: Recognise
    read: Read | None
