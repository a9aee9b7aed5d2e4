"""The formats of files that an incident is read from: one module each, in one list.

A format recognises its files, reads them, and describes them.  A new one is a module with a
`FORMAT`, a line in `FORMATS`, its sentence in `static/i18n/incident.en.json`, and a case in
`tests/field/`.
"""

from __future__ import annotations

from typing import Final

from app.reading.format import FileFormat, FormatRow
from app.reading.formats import checkpoint, dump, metadata_log, segment, text_log

FORMATS: Final[tuple[FileFormat, ...]] = (
    checkpoint.FORMAT,
    checkpoint.RECOVERY,
    metadata_log.FORMAT,
    segment.FORMAT,
    dump.FORMAT,
    text_log.FORMAT,
)
"""In the order in which a file is offered to them: by name, then by content."""
BY_NAME: Final = {one.name: one for one in FORMATS}

__all__ = ["BY_NAME", "FORMATS", "FileFormat", "FormatRow"]
