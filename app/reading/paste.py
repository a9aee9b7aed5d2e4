"""Reads what was pasted: each line belongs to the first format that takes it, or is named."""

from __future__ import annotations

from typing import Final

from app.reading.cleaning import lines_of
from app.reading.context import PasteContext, PastedLine, PasteFormat
from app.reading.facts import MOST_PROBLEMS, Facts, PasteError
from app.reading.formats.checkpoint_lines import FORMAT as CHECKPOINT
from app.reading.formats.describe import FORMAT as DESCRIBE
from app.reading.formats.documents import FORMAT as DOCUMENTS
from app.reading.formats.kcat import FORMAT as KCAT
from app.reading.formats.log_lines import FORMAT as LOG
from app.reading.formats.log_lines import close as close_log
from app.reading.formats.prompt import FORMAT as PROMPT
from app.reading.formats.quorum import FORMAT as QUORUM
from app.reading.formats.remarks import NAMED, QUIET
from app.reading.formats.settings import FORMAT as SETTINGS
from app.reading.formats.settings import OFFSETS
from app.reading.formats.table import FORMAT as TABLE
from app.reading.formats.zookeeper import FORMAT as ZOOKEEPER
from app.reading.formats.zookeeper import close
from app.reading.secrets import masked

FORMATS: Final[tuple[PasteFormat, ...]] = (
    PROMPT,
    DESCRIBE,
    KCAT,
    LOG,
    QUIET,
    ZOOKEEPER,
    DOCUMENTS,
    QUORUM,
    TABLE,
    CHECKPOINT,
    OFFSETS,
    SETTINGS,
    NAMED,
)
"""In the order in which a line is offered to them."""
SHOWN: Final[tuple[PasteFormat, ...]] = (
    DESCRIBE,
    KCAT,
    DOCUMENTS,
    TABLE,
    ZOOKEEPER,
    QUORUM,
    SETTINGS,
    OFFSETS,
    CHECKPOINT,
    LOG,
    PROMPT,
)
"""In the order of the table on the page and in the docs."""


def read(text: str) -> Facts:
    """Read everything that can be read of a text.  Sizes are bounded; what is beyond is named.

    Pure: text in, plain data out, in time that grows with the length of the text.
    """
    facts = Facts()
    text, facts.masked = masked(text)
    lines = [PastedLine(one.number, one.text.strip()) for one in lines_of(text, facts)]
    context = PasteContext(facts)
    unknown: list[PastedLine] = []
    at = 0
    while at < len(lines):
        count = _offer(lines, at, context) if lines[at].text else 1
        if not count:
            unknown.append(lines[at])
            facts.kinds[lines[at].number] = ""
            at += 1
            continue
        _name(unknown, facts)
        at += count
    _name(unknown, facts)
    close(facts)
    close_log(facts)
    facts.problems.sort(key=lambda one: one.line)
    del facts.problems[MOST_PROBLEMS:]
    return facts


def _offer(lines: list[PastedLine], at: int, context: PasteContext) -> int:
    """Offer a line to the formats; return how many lines one takes, 0 for none."""
    try:
        for one in FORMATS:
            if count := one.read(lines, at, context):
                taken = lines[at : at + count]
                context.facts.kinds.update((line.number, one.name) for line in taken if line.text)
                return count
        return 0
    except PasteError as bad:
        context.facts.refuse(lines[at].number, bad)
        context.facts.kinds[lines[at].number] = ""
        return 1


def _name(unknown: list[PastedLine], facts: Facts) -> None:
    """Add one sentence for lines in a row that no format takes."""
    if not unknown:
        return
    first, last = unknown[0], unknown[-1]
    if len(unknown) == 1:
        facts.problem(first.number, "unknown", text=first.text)
    else:
        facts.problem(first.number, "unknown_lines", text=first.text, last=last.number)
    unknown.clear()
