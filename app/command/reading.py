"""Output of `highwater read`: each statement of a guide, its moment and its verdicts."""

from __future__ import annotations

from engine.learn import guides, reading
from engine.learn.guides import Guide, Statement
from engine.learn.reading import Finding


def followed(path: str) -> tuple[list[str], bool]:
    """Return (lines for people, if every statement with a run has its moment).

    Raises InputError.
    """
    guide = guides.load(path)
    lines = [f"{guide.title['en']}, read along with Kafka {guide.reads}"]
    whole = True
    for section in guide.sections:
        lines += ["", section.title["en"]]
        for statement in section.statements:
            finding = reading.follow(statement)
            whole &= finding.moment is not None or not statement.scenario
            lines += _statement_lines(guide, statement, finding)
    return lines, whole


def _statement_lines(guide: Guide, statement: Statement, finding: Finding) -> list[str]:
    lines = [f"{statement.number:3}  {statement.says['en']}"]
    if finding.moment is None:
        why = (
            statement.missing.get("en")
            or f"nothing of it happens in {statement.scenario}: choose another"
        )
        return [*lines, f"     not followed: {why}"]
    stack = reading.stack_of(statement, finding.moment, guide.reads)
    acts = ""
    if stack is not None and stack.frames:
        frame = stack.frames[stack.acting]
        acts = f", {frame.name}"
        if frame.place:
            acts += f" ({frame.place.file.rpartition('/')[2]}:{frame.place.line})"
    where = f"{statement.scenario} under {statement.kafka}, step {finding.moment.step}{acts}"
    return [*lines, f"     followed: {where}", f"     {verdict(statement, finding)}"]


def verdict(statement: Statement, finding: Finding) -> str:
    """Return how the statement stands over the releases."""
    way, start, end = reading.summary(finding.row)
    first = reading.edge(statement, start, False) if start else ""
    last = reading.edge(statement, end, True) if end else ""
    return {
        reading.HOLDS: "so in every release",
        reading.NEVER: "never so",
        reading.SINCE: f"so since {first}",
        reading.UNTIL: f"so until {last}",
        reading.FROM: f"so from {first} to {last}" if start != end else f"so only in {first}",
        reading.SOME: "so in some releases",
        reading.OPEN: "no verdict: nothing decides it",
    }[way]
