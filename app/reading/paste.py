"""Reads what was pasted: each line belongs to the first format that takes it, or is named."""

from __future__ import annotations

from app.reading.cleaning import lines_of
from app.reading.facts import MOST_PROBLEMS, Facts, PasteError
from app.reading.format import PasteContext, PastedLine
from app.reading.formats import FORMATS, log, zookeeper
from app.reading.secrets import masked


def read(text: str) -> Facts:
    """Read everything that can be read of a text.  Sizes are bounded; what is beyond is named.

    Pure: text in, plain data out, in time that grows with the length of the text.
    """
    facts = Facts()
    text, facts.masked = masked(text.encode("utf-8", "replace").decode())  # no lone surrogates
    lines = [PastedLine(line.number, line.text.strip()) for line in lines_of(text, facts)]
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
    zookeeper.close(facts)
    log.close(facts)
    facts.problems.sort(key=lambda problem: problem.line)
    del facts.problems[MOST_PROBLEMS:]
    return facts


def _offer(lines: list[PastedLine], at: int, context: PasteContext) -> int:
    """Offer a line to the formats; return how many lines one takes, 0 for none."""
    try:
        for form in FORMATS:
            if form.read_lines and (count := form.read_lines(lines, at, context)):
                taken = lines[at : at + count]
                context.facts.kinds.update((line.number, form.name) for line in taken if line.text)
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
