"""The formats of text and files: one module each, in one list.

A format recognises its lines or its files, reads them, and describes them.  A new one is a module
with a `FORMAT`, a line in `FORMATS`, its sentence in `static/i18n/cluster.en.json` (lines) or
`incident.en.json` (files), and a case in `tests/field/`.  A line that cannot be read is named by
its number with a reason; the rest is used all the same.
"""

from __future__ import annotations

from typing import Final

from app.reading.format import TextFormat
from app.reading.formats import (
    checkpoint,
    describe,
    documents,
    dump,
    kcat,
    log,
    metadata_log,
    prompt,
    quorum,
    remarks,
    segment,
    settings,
    table,
    zookeeper,
)

FORMATS: Final[tuple[TextFormat, ...]] = (
    prompt.FORMAT,
    describe.FORMAT,
    kcat.FORMAT,
    checkpoint.FORMAT,
    checkpoint.UNUSED,
    metadata_log.FORMAT,
    segment.FORMAT,
    dump.FORMAT,
    log.FORMAT,
    remarks.QUIET,
    zookeeper.FORMAT,
    documents.FORMAT,
    quorum.FORMAT,
    table.FORMAT,
    settings.OFFSETS,
    settings.FORMAT,
    remarks.NAMED,
)
"""In the order in which a line or a file is offered to them; files by name, then by content."""
BY_NAME: Final = {one.name: one for one in FORMATS}
SHOWN: Final = sorted(
    (one for one in FORMATS if one.commands), key=lambda one: one.colour == "remark"
)
"""Formats of pasted lines as the page and the docs list them: remarks last."""
