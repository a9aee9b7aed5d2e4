"""Entries that an error, a log line or a version means: its known bugs, and what explains it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from app.core import features
from app.core.search_entry import SearchEntry
from app.core.words import Catalogue, choose
from app.find.index import index
from app.reading.kinds import LineKind, named
from app.reading.secrets import masked
from engine.catalogue import bugs as known_bugs
from engine.catalogue.bug_matching import printing
from engine.model.errors import InputError
from engine.model.languages import LANGUAGES

LONGEST_VERSION: Final = 16
"""Characters of a text that is a version alone."""
FEWEST_WORDS: Final = 4
"""Words of a line; fewer are a name, which the search itself finds."""
_NAMES_VERSION: Final = ("Kafka version", "kafka-version", "Commit:")


def release_named(text: str) -> str:
    """Return the release of a short text such as the output of --version; "" for another."""
    for line in text.splitlines()[:200]:
        if any(name in line for name in _NAMES_VERSION):
            return _release_in(line)
    short = text.strip()
    return _release_in(short) if len(short) <= LONGEST_VERSION and short[:1].isdigit() else ""


def _release_in(line: str) -> str:
    try:
        return known_bugs.release_in(line)
    except InputError:
        return ""


def explaining(kind: LineKind) -> list[SearchEntry]:
    """Return the scenario, the rule and the question of an interview that explain a kind."""
    wanted = (("scenario", kind.scenario), ("rule", kind.rule), ("question", kind.question))
    return [_entries()[one] for one in wanted if one[1]]


def meant_by(text: str) -> Iterator[SearchEntry]:
    """Yield what a query means if it is a version, an error or a log line; nothing else."""
    text, _ = masked(text[: known_bugs.MOST_CHARACTERS])
    release = release_named(text)
    if release and "bug" in features.kinds():
        yield SearchEntry("bug", release, f"/upgrade?from={release}", _titles(release))
    if len(text.split()) < FEWEST_WORDS:
        return
    for bug in printing(text, release):
        if ("bug", bug.jira) in _entries():
            yield _entries()["bug", bug.jira]
    kind = named(text)
    if kind is not None:
        yield from explaining(kind.kind)


@cache
def _entries() -> dict[tuple[str, str], SearchEntry]:
    """Return the entries of the index by kind and name; scenarios by their code."""
    return {(one.kind, one.code or one.name): one for one in index().entries}


def _titles(release: str) -> dict[str, str]:
    catalogue = Catalogue()
    words = {one: catalogue.words(one) for one in LANGUAGES}
    return {one: choose(words[one], "find.release", {"release": release}) for one in LANGUAGES}
