"""Kinds of log lines that are named: what a line says, its values, and a run that shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from engine.catalogue.template import LONGEST_LINE, first_match

FILE: Final = "kinds.json"


@dataclass(frozen=True, slots=True)
class LineKind:
    """A kind: its sentence is `line.<name>` of the catalogue.

    `scenario`: the run that shows it; `rule` and `question` (of an interview) explain it; "" for
    none.
    """

    name: str
    scenario: str
    rule: str
    question: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedLine:
    """A line of a kind, with the values of its places."""

    kind: LineKind
    values: Mapping[str, str]


@cache
def kinds() -> tuple[LineKind, ...]:
    """Return all kinds, the more specific first."""
    rows = json.loads((files("app.reading") / FILE).read_text("utf-8"))
    return tuple(LineKind(**{**row, "lines": tuple(row["lines"])}) for row in rows)


def named(line: str) -> NamedLine | None:
    """Return the first kind that a line is of; None for any other line."""
    text = line[:LONGEST_LINE]
    for kind in kinds():
        values = first_match(kind.lines, text)
        if values is not None:
            return NamedLine(kind, values)
    return None
