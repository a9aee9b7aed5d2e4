"""Templates of log lines: literal words with <places> between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

LONGEST_LINE: Final = 4_000
"""Characters of a line that are looked at."""
LONGEST_VALUE: Final = 400

_PLACE: Final = re.compile(r"<([a-z_]+)>")
_DIGITS: Final = re.compile(r"-?\d{1,19}")
_KINDS: Final = {
    "tp": re.compile(r"[A-Za-z0-9._-]++"),
    "slashed": re.compile(r"[A-Za-z0-9._/-]++"),
    "replicas": re.compile(r"[\d, ]{0,200}"),
    "ids": re.compile(r"[\d, ]{0,200}"),
    "word": re.compile(r"[^\s,;:()]{1,120}"),
    "any": re.compile(r".{0,400}"),
}
"""Place -> the form of its value; every other place holds a whole number."""
_NUMBERED: Final = {"tp": "-", "slashed": "/"}
"""Place of a partition -> what stands before its number."""


class Template:
    """One kind of line; `match` returns the values of its places."""

    def __init__(self, text: str) -> None:
        parts = _PLACE.split(text)
        self.literals = parts[::2]
        self.places = parts[1::2]

    def match(self, line: str) -> dict[str, str] | None:
        """Return place -> value; None for another line."""
        start = line.find(self.literals[0] or self.literals[1])
        if start < 0:
            return None
        # A template that begins with a place begins with a word.
        at = start + len(self.literals[0]) if self.literals[0] else line.rfind(" ", 0, start) + 1
        values: dict[str, str] = {}
        for place, literal in zip(self.places, self.literals[1:], strict=True):
            form = _KINDS.get(place, _DIGITS)
            if literal:
                end = line.find(literal, at, at + LONGEST_VALUE + len(literal))
                if end < 0 or not form.fullmatch(line, at, end):
                    return None
            else:
                match = form.match(line, at)
                if match is None:
                    return None
                end = match.end()
            value = values[place] = line[at:end]
            if place in _NUMBERED and not value.rpartition(_NUMBERED[place])[2].isdigit():
                return None
            at = end + len(literal)
        return values


@cache
def template(text: str) -> Template:
    """Return a template, parsed once."""
    return Template(text)


def first_match(texts: Iterable[str], line: str) -> Mapping[str, str] | None:
    """Return the values of the first template that a line fits; None where none does."""
    for text in texts:
        values = template(text).match(line)
        if values is not None:
            return values
    return None


def closeness(texts: Iterable[str], line: str) -> int:
    """Return how many letters of its own the template has that fits a line best; 0 where none."""
    fits = (template(text) for text in texts)
    return max(
        (sum(map(len, fit.literals)) for fit in fits if fit.match(line) is not None), default=0
    )
