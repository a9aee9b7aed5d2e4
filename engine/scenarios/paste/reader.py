"""Reads what was pasted: each line belongs to the first format that takes it, or is named."""

from __future__ import annotations

from typing import Final

from engine.logs.secrets import masked
from engine.scenarios.paste.checkpoint import FORMAT as CHECKPOINT
from engine.scenarios.paste.cleaning import lines_of
from engine.scenarios.paste.describe import FORMAT as DESCRIBE
from engine.scenarios.paste.documents import FORMAT as DOCUMENTS
from engine.scenarios.paste.facts import MOST_PROBLEMS, Facts, PasteError
from engine.scenarios.paste.format import PasteContext, PastedLine, PasteFormat
from engine.scenarios.paste.kcat import FORMAT as KCAT
from engine.scenarios.paste.log_lines import FORMAT as LOG
from engine.scenarios.paste.log_lines import close as close_log
from engine.scenarios.paste.others import NAMED, QUIET
from engine.scenarios.paste.prompt import FORMAT as PROMPT
from engine.scenarios.paste.quorum import FORMAT as QUORUM
from engine.scenarios.paste.settings import FORMAT as SETTINGS
from engine.scenarios.paste.settings import OFFSETS
from engine.scenarios.paste.table import FORMAT as TABLE
from engine.scenarios.paste.zookeeper import FORMAT as ZOOKEEPER
from engine.scenarios.paste.zookeeper import close

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
