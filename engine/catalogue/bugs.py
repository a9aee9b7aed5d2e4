"""Ledger of replication bugs in Kafka's history: releases that have them, and runs that show them.

`bugs.json` has an entry for each: the releases that introduced and fixed it, the class and
method, how severe it is for an operator, and the flags of the engine that play it, or why none
does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from engine.model.errors import InputError
from engine.model.flags import ERAS, KRAFT, ZK, Release, release_of
from engine.model.languages import words_of
from engine.model.profiles import RELEASES, get_profile
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario

FILE: Final = "bugs.json"
USES: Final = "bug_uses.json"
"""Feature -> bugs that only clusters with this feature can meet."""
LINES: Final = "bug_lines.json"
"""Bug -> templates of the lines that a broker or a client logs when it is met."""
SHOWN: Final = "bug_runs.json"
"""Bug -> a run of the library, or moves in one, that plays differently under the bug's flag."""
BOTH: Final = "both"
MODES: Final = (ZK, KRAFT, BOTH)

OLDEST: Final[Release] = (0, 8)
NEWEST: Final[Release] = (4, 4, 99)
KRAFT_SINCE: Final[Release] = (3, 3)
KRAFT_ONLY: Final[Release] = (4, 0)

_RELEASE: Final = re.compile(r"(?<![\d.])\d+\.\d+(?:\.\d+){0,2}(?![\d.])")
_FLIP: Final = re.compile(r"[+-]([0-9]*+[a-z_][a-z_0-9]*)")
_BUG: Final = re.compile(r"KAFKA-\d+|MINOR \w+")
MOST_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A bug: `introduced` "" stands for the first release; `fixed` has one release per line."""

    jira: str
    statement: str
    kind: str
    mode: str
    severity: str
    introduced: str
    fixed: tuple[str, ...]
    where: str
    flags: tuple[str, ...]
    not_played: str

    def affects(self, release: Release, mode: str = "") -> bool:
        """Return True if a release has the bug; a mode ("zk", "kraft") asks for such a cluster."""
        if mode and self.mode not in (BOTH, mode):
            return False
        if self.introduced and release < release_of(self.introduced):
            return False
        return not self._is_fixed_in(release)

    @property
    def uses(self) -> frozenset[str]:
        """Features without which a cluster cannot meet the bug; empty: any cluster can."""
        return frozenset(name for name, bugs in features().items() if self.jira in bugs)

    @property
    def lines(self) -> tuple[str, ...]:
        """Templates of the log lines of the bug; empty where it prints nothing of its own."""
        return _lines().get(self.jira, ())

    def is_met_by(self, used: Collection[str]) -> bool:
        """Return True if a cluster that uses these features can meet the bug."""
        return not self.uses or not self.uses.isdisjoint(used)

    def said_in(self, language: str) -> tuple[str, str]:
        """Return the statement, and why it is not played, in a language or else in English."""
        words = words_of("ledger", language)
        return words.get(self.jira, self.statement), words.get(self.not_played, self.not_played)

    @property
    def last_affected(self) -> str:
        """Newest release that has the bug, "" if none that can be named has it."""
        modes = (ZK, KRAFT) if self.mode == BOTH else (self.mode,)
        releases = [text for mode in modes for text in RELEASES[mode]]
        hit = [text for text in releases if self.affects(release_of(text))]
        return max(hit, key=release_of, default="")

    def _is_fixed_in(self, release: Release) -> bool:
        """Return True for later releases of a fixed line, and from the newest fixed line on."""
        fixes = [release_of(text) for text in self.fixed]
        newest = max(fixes, default=None)
        return any(
            fix <= release and (fix == newest or _line(fix) == _line(release)) for fix in fixes
        )


def _line(release: Release) -> Release:
    """Return the line of a release: (3, 9) of 3.9.1, (0, 10, 2) of 0.10.2.2."""
    return release[:3] if release[0] == 0 else release[:2]


@cache
def _lines() -> dict[str, tuple[str, ...]]:
    rows = json.loads((files("engine.catalogue") / LINES).read_text("utf-8"))
    return {jira: tuple(templates) for jira, templates in rows.items()}


@cache
def shown() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return bug -> the code of a scenario, and moves instead of its script (none: its own)."""
    rows = json.loads((files("engine.catalogue") / SHOWN).read_text("utf-8"))
    return {
        jira: (row["run"], tuple(filter(None, (move.strip() for move in row["moves"].split(";")))))
        for jira, row in rows.items()
    }


@cache
def features() -> dict[str, tuple[str, ...]]:
    """Return feature -> JIRA numbers of the bugs that need it."""
    rows = json.loads((files("engine.catalogue") / USES).read_text("utf-8"))
    return {name: tuple(bugs) for name, bugs in rows.items()}


@cache
def entries() -> tuple[LedgerEntry, ...]:
    """Return all entries, the most severe first."""
    rows = json.loads((files("engine.catalogue") / FILE).read_text("utf-8"))
    return tuple(
        LedgerEntry(**{**row, "fixed": tuple(row["fixed"]), "flags": tuple(row["flags"])})
        for row in rows
    )


@dataclass(frozen=True, slots=True)
class Bug:
    """A bug and the library run that shows it; None where no run does.

    `moves`: those that show it in the scenario, () for its script.
    """

    entry: LedgerEntry
    shown_by: Scenario | None
    moves: tuple[str, ...] = ()


def release_in(text: str) -> str:
    """Find the release in what an operator pastes: "3.9.1", a log line, or `--version`.

    Raises InputError where there is none, or none that is played.
    """
    match = _RELEASE.search(text[:MOST_CHARACTERS])
    if match is None:
        raise InputError(
            "invalid", "No release such as 3.9.1 is in it; paste what --version prints."
        )
    if not OLDEST <= release_of(match[0]) <= NEWEST:
        raise InputError("unknown", "Kafka {0} is not played; releases are 0.8 to 4.4.", match[0])
    return match[0]


def bugs_of(release: str, mode: str = "") -> tuple[Bug, ...]:
    """Return the known bugs of a release, the most severe first.

    Raises InputError as `upgrade`.
    """
    own = mode_of(release, mode)
    return tuple(bug_of(entry) for entry in entries() if entry.affects(release_of(release), own))


def bug_of(entry: LedgerEntry) -> Bug:
    """Return an entry with the library run that shows it: one of its own, else another's."""
    own = shown_by(entry.flags)
    if own is not None or entry.jira not in shown():
        return Bug(entry, own)
    code, moves = shown()[entry.jira]
    return Bug(entry, find(code), moves)


def mode_of(release: str, mode: str) -> str:
    own = modes_of(release)
    if mode and mode not in own:
        raise InputError(
            "impossible", "Kafka {0} does not run with {1}.", release, ERAS.get(mode, mode)
        )
    return mode or own[0]


def modes_of(release: str) -> tuple[str, ...]:
    """Return how clusters of a release can run: with ZooKeeper, with KRaft, or either."""
    number = release_of(release)
    if number < KRAFT_SINCE:
        return (ZK,)
    return (KRAFT,) if number >= KRAFT_ONLY else (KRAFT, ZK)


def shown_by(flags: tuple[str, ...]) -> Scenario | None:
    """Return the library scenario that plays a cluster with and without one of these flags."""
    return next((found for name in flags if (found := _scenarios().get(name))), None)


@cache
def _scenarios() -> dict[str, Scenario]:
    """Return flag -> the first scenario that shows it.

    It flips the flag, or its origin is the flag's bug: it then plays the last release that has the
    bug and the first that has not.
    """
    of_bug = {entry.jira: entry.flags for entry in entries()}
    scenarios: dict[str, Scenario] = {}
    for scenario in library().values():
        names = [name for profile in scenario.profiles for name in _FLIP.findall(profile)]
        for jira in _BUG.findall(scenario.origin):
            names += of_bug.get(jira, ())
        played = [get_profile(profile).flags() for profile in scenario.profiles]
        for name in names:
            if len({flags.get(name) for flags in played}) > 1:
                scenarios.setdefault(name, scenario)
    return scenarios
