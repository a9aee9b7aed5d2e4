"""Lines that are known and have no state of a partition: remarks of tools, other tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.format import PasteContext, PastedLine, TextFormat

_CHATTER: Final = re.compile(
    r"OpenJDK .*warning.*|Java HotSpot.*warning.*|Picked up \w+.*|SLF4J.*|WARNING:.*"
    r"|Defaulted container .*|Unable to use a TTY.*"
    r"|command terminated with exit code \d+|log4j:.*|Warning: Permanently added .*"
    r"|time=\".*level=warning.*|%\s.*|\.{3,}|…|\[\.\.\.\]|<snip>|-{3,}|={3,}|exit|logout"
    r"|OPTIONS? .* deprecated.*|Option \S+ (?:has been|is) deprecated.*",
    re.DOTALL,
)
_GROUPS: Final = re.compile(r"(?:GROUP\s+)?TOPIC\s+PARTITION\s+CURRENT-OFFSET\s.*")
_METRIC: Final = re.compile(
    r"kafka_\w+(?:\{[^}]*\})?\s+[-+\d.eE]+(?:\s+\d+)?|# (?:HELP|TYPE) kafka_.*"
)
_MOVES: Final = re.compile(
    r"Status of partition reassignment:.*|Current partition reassignments:.*|Reassignment of "
    r"partition .*|There is no active reassignment .*|Clearing (?:broker|topic)-level throttles .*"
    r"|Successfully started partition reassignments? .*"
)
_TITLES: Final = re.compile(r"Error while executing (?:topic|config) command.*|\s*at [\w.$]+\(.*\)")


def _quiet(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    """Skip a remark of a tool, which is no contents and costs no sentence."""
    return 1 if _CHATTER.fullmatch(lines[at].text) else 0


def _block(lines: Sequence[PastedLine], at: int, pattern: re.Pattern[str]) -> int:
    count = 0
    while at + count < len(lines) and pattern.search(lines[at + count].text):
        count += 1
    return count


def _named(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    """Name what other tools print, once for all of its lines, with what to paste instead."""
    text, number, facts = lines[at].text, lines[at].number, context.facts
    if _GROUPS.fullmatch(text):
        facts.problem(number, "groups")
        return _block(lines, at, re.compile(r"\S"))
    if _METRIC.fullmatch(text):
        facts.problem(number, "metrics")
        return _block(lines, at, _METRIC)
    if _MOVES.fullmatch(text):
        if not any(problem.key in ("paste.plan", "paste.moves") for problem in facts.problems):
            facts.problem(number, "moves")
        return max(1, _block(lines, at, _MOVES))
    if _TITLES.fullmatch(text):
        facts.problem(number, "tool_failed", text=text)
        return max(1, _block(lines, at, re.compile(r"Error while|^at |Exception|^Caused by")))
    return 0


QUIET: Final = TextFormat("remarks", "remark", read_lines=_quiet)
NAMED: Final = TextFormat("others", "named", read_lines=_named)
