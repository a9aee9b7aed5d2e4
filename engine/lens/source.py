"""Locations in Kafka's replication code: names, files and lines of exact releases, read-only.

`kafka.json` is a compact form of an index that was read out of Kafka's sources (see
docs/explanation/code-lens.md): of each name that a card, a chain or `named.txt` uses, the file and
line in every release that has it; the call chains that do what a rule says; the threads' names.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from engine.model.profiles import KRAFT, ZK, Profile, Release

REPOSITORY: Final = "https://github.com/apache/kafka/blob"
FIRST_KRAFT: Final = (3, 3)
WITHOUT_NAMES: Final = (3, 0)
NAMES_BEFORE: Final = "2.8.2"
FIRST_WITHOUT_ZK: Final = (4, 0)


class SourcePlace(NamedTuple):
    """A file of Kafka's repository and a line of it; line 0 where only the file is known."""

    file: str
    line: int


class Chain(NamedTuple):
    """Frames that lead to the act of a rule, outermost first.

    Those whose index is in `later` begin a new stack: they run later, or are handed over.
    """

    rule: str
    mode: str
    thread: str
    since: int
    until: int
    frames: tuple[str, ...]
    later: frozenset[int]


Row = tuple[tuple[int, ...], ...]


def _row(values: list[list[int]]) -> Row:
    """Return a row as tuples of numbers, which the garbage collector stops tracking.

    Thirty thousand lists would be traversed again and again while the steps of a run are made.
    """
    return tuple(tuple(value) for value in values)


class Source:
    """Index of Kafka's sources.  Releases have names ("2.5.1"), ordered from old to new."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.releases: tuple[str, ...] = tuple(data["releases"])
        self._tags: dict[str, str] = data["tags"]
        self._number = {name: at for at, name in enumerate(self.releases)}
        self._files: list[str] = data["files"]
        self._names: dict[str, Row] = {key: _row(row) for key, row in data["names"].items()}
        self._calls: dict[str, Row] = {key: _row(row) for key, row in data["calls"].items()}
        self._threads: dict[str, list[list[str]]] = data["threads"]
        self.aliases: dict[str, str] = data["aliases"]
        self.chains: dict[str, list[Chain]] = {}
        for rule, mode, thread, since, until, frames, later in data["chains"]:
            chain = Chain(rule, mode, thread, since, until, tuple(frames), frozenset(later))
            self.chains.setdefault(rule, []).append(chain)

    def number(self, release: str) -> int:
        """Return its place in the order.  Raises KeyError for an unknown release."""
        return self._number[release]

    def tag(self, release: str) -> str:
        """Return the tag of Kafka's repository that holds it."""
        return self._tags.get(release, release)

    def names(self) -> Iterable[str]:
        return self._names

    def has(self, release: str, name: str) -> bool:
        return self._at(self._names.get(name), release) is not None

    def where(self, release: str, name: str) -> SourcePlace | None:
        """Return the place of a definition in a release; an inherited one's is in its own class."""
        found = self._at(self._names.get(name), release)
        return None if found is None else SourcePlace(self._files[found[0]], found[1])

    def spans(self, name: str) -> list[tuple[str, str]]:
        """Return the releases that have it, as first and last of each stretch."""
        spans: list[tuple[str, str]] = []
        before = False
        for release in self.releases:
            has = self.has(release, name)
            if has:
                first = spans.pop()[0] if before else release
                spans.append((first, release))
            before = has
        return spans

    def call(self, release: str, caller: str, callee: str) -> int:
        """Return the line of the caller's file at which it calls; 0 where that is not known."""
        found = self._at(self._calls.get(f"{caller} > {callee}"), release)
        return found[0] if found else 0

    def thread(self, release: str, key: str) -> str:
        """Return the JVM's name of a thread, with <places> to fill in; "" where there was none."""
        at = self.number(release)
        for since, until, name in self._threads.get(key, ()):
            if self.number(since) <= at <= self.number(until):
                return name
        return ""

    def url(self, release: str, place: SourcePlace) -> str:
        """Return the address of that line of Kafka's public source, at the release's tag."""
        line = f"#L{place.line}" if place.line else ""
        return f"{REPOSITORY}/{self.tag(release)}/{place.file}{line}"

    def _at(self, row: Row | None, release: str) -> tuple[int, ...] | None:
        """Return a row's value for a release, of [since, value, ...]; [since] ends a stretch."""
        if row is None:
            return None
        after = bisect_right(row, self.number(release), key=lambda entry: entry[0])
        span = row[after - 1][1:] if after else ()
        return span or None


@cache
def source() -> Source:
    return Source(json.loads(files("engine.lens").joinpath("kafka.json").read_text("utf-8")))


@cache
def named() -> dict[str, str]:
    """Name -> rule, of what posts name beside the cards and the chains."""
    text = files("engine.lens").joinpath("named.txt").read_text("utf-8")
    rows = [row.split() for row in text.splitlines() if row and not row.startswith("#")]
    return {row[0]: row[1] for row in rows}


# -- releases and profiles ------------------------------------------------------------------------


@cache
def key(release: str) -> Release:
    """Convert "0.10.2.2" to (0, 10, 2, 2), by which profiles compare releases."""
    return tuple(int(part) for part in release.split("."))


def modes(release: str) -> tuple[str, ...]:
    """Return the controllers that the release can be run with in production."""
    available = []
    if key(release) < FIRST_WITHOUT_ZK:
        available.append(ZK)
    if key(release) >= FIRST_KRAFT:
        available.append(KRAFT)
    return tuple(available)


@lru_cache(maxsize=256)
def profile_of(release: str, mode: str) -> Profile:
    """Return the protocol of an exact release, for asking cards."""
    return Profile(release, mode, key(release), (release,), release)


def release_of(profile: Profile) -> str:
    """Return the release of the index that a profile behaves as.

    It is the oldest that is not older, since what a line of releases mends it mends without
    renaming; the newest where all are older.  3.0 is not in the index, and has the names of 2.8.
    """
    if profile.release[:2] == WITHOUT_NAMES:
        return NAMES_BEFORE
    later = [release for release in source().releases if key(release) >= profile.release]
    return later[0] if later else source().releases[-1]


def mode_in(release: str, mode: str) -> str:
    """Return the mode in which a run of `mode` can be seen in the release."""
    possible = modes(release)
    return mode if mode in possible else possible[-1]
