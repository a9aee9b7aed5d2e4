"""Ledger entries that fit a pasted error or log line: by its words, else by names it contains."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Final

from engine.catalogue.bugs import MOST_CHARACTERS, LedgerEntry, entries
from engine.catalogue.template import closeness
from engine.model.flags import release_of

MOST_FOUND: Final = 8
MOST_SHARING: Final = 10
"""A name that more entries share identifies none."""
LEAST_LETTERS: Final = 9

_NAME: Final = re.compile(
    r"KAFKA-\d+|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\b[A-Za-z]{1,60}(?:[A-Z][a-z0-9]{1,40}){1,12}\b"
    r"|\b[a-z]+(?:\.[a-z]+){2,}\b"
)
"""A JIRA number, an error code, a camel-case name of a class or method, a setting."""

MOST_PREFIX: Final = 120
"""Characters of a line in which its level stands."""
_LOGGED: Final = re.compile(r"\d\d:\d\d[^A-Z]{0,40}\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_COMMON: Final = frozenset({"kafka", "kafkaexception", "topicpartition", "runtimeexception"})


def names_in(text: str) -> frozenset[str]:
    """Return the names of a text, spelled alike: NotLeaderException and NOT_LEADER are one."""
    return frozenset(map(_spelled, _NAME.findall(text[:MOST_CHARACTERS]))) - _COMMON


def _spelled(name: str) -> str:
    return re.sub(r"(?:exception|error)$", "", name.replace("_", "").lower())


@cache
def _names() -> dict[LedgerEntry, frozenset[str]]:
    return {entry: names_in(f"{entry.jira} {entry.where} {entry.statement}") for entry in entries()}


@cache
def _squeezed() -> dict[LedgerEntry, str]:
    return {entry: re.sub(r"[^a-z]", "", entry.statement.lower()) for entry in entries()}


def _saying(name: str) -> frozenset[LedgerEntry]:
    """Return the entries whose statement says a name in words: "out of range"."""
    words = re.sub(r"^(?:offset|unknown)", "", name)
    if len(words) < LEAST_LETTERS or not words.isalpha():
        return frozenset()
    return frozenset(entry for entry, text in _squeezed().items() if words in text)


def printing(line: str, release: str = "") -> tuple[LedgerEntry, ...]:
    """Return the entries that print such a line: those of a release ("": any), the closest first.

    A template is the closer the more of the line is its own words.
    """
    text = line[:MOST_CHARACTERS]
    fits = {entry: closeness(entry.lines, text) for entry in entries()}
    number = release_of(release) if release else None

    def rank(entry: LedgerEntry) -> tuple[bool, int]:
        return number is not None and not entry.affects(number), -fits[entry]

    return tuple(sorted(filter(fits.get, fits), key=rank)[:MOST_FOUND])


def fitting(line: str, release: str = "") -> tuple[LedgerEntry, ...]:
    """Return the entries that print a line; without any, those that share a rare name with it.

    The names in a line of a log are those of the classes that log: they say nothing.
    """
    printed = printing(line, release)
    if printed or _LOGGED.search(line[:MOST_PREFIX]):
        return printed
    scores: Counter[LedgerEntry] = Counter()
    for name in names_in(line):
        matching = {entry for entry, names in _names().items() if name in names} | _saying(name)
        if 0 < len(matching) <= MOST_SHARING:
            scores.update(dict.fromkeys(matching, 100 // len(matching)))
    fits = [entry for entry in entries() if entry in scores]  # of equal scores the worst first
    return tuple(sorted(fits, key=lambda entry: -scores[entry])[:MOST_FOUND])
