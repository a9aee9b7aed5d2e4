"""Comparison of two releases: bugs mended, bugs that stay, bugs that come, changes on purpose."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.model.errors import InputError
from engine.model.flags import ERAS, FLAG_LIST, KRAFT, ZK, Flag, Release, release_of
from engine.model.profiles import get_profile
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.upgrade.ledger import LedgerEntry, entries, shown

OLDEST: Final[Release] = (0, 8)
NEWEST: Final[Release] = (4, 4, 99)
KRAFT_SINCE: Final[Release] = (3, 3)
KRAFT_ONLY: Final[Release] = (4, 0)

_RELEASE: Final = re.compile(r"(?<![\d.])\d+\.\d+(?:\.\d+){0,2}(?![\d.])")
_FLIP: Final = re.compile(r"[+-]([0-9]*+[a-z_][a-z_0-9]*)")
_BUG: Final = re.compile(r"KAFKA-\d+|MINOR \w+")
MOST_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Bug:
    """A bug and the library run that shows it; None where no run does.

    `moves`: those that show it in the scenario, () for its script.
    """

    entry: LedgerEntry
    shown_by: Scenario | None
    moves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A change on purpose: a flag whose value differs between the releases."""

    flag: Flag
    is_on: bool
    shown_by: Scenario | None


@dataclass(frozen=True, slots=True)
class Upgrade:
    """From one release to another.  `before` and `after`: profiles as addresses name them."""

    before: str
    after: str
    mended: tuple[Bug, ...]
    broken: tuple[Bug, ...]
    stay: tuple[Bug, ...]
    changed: tuple[Change, ...]


def release_in(text: str) -> str:
    """Find the release in what an operator pastes: "3.9.1", a log line, or `--version`.

    Raises InputError where there is none, or none that is played.
    """
    found = _RELEASE.search(text[:MOST_CHARACTERS])
    if found is None:
        raise InputError(
            "invalid", "No release such as 3.9.1 is in it; paste what --version prints."
        )
    if not OLDEST <= release_of(found[0]) <= NEWEST:
        raise InputError("unknown", "Kafka {0} is not played; releases are 0.8 to 4.4.", found[0])
    return found[0]


def bugs_of(release: str, mode: str = "") -> tuple[Bug, ...]:
    """Return the known bugs of a release, the most severe first.

    Raises InputError as `upgrade`.
    """
    own = _mode(release, mode)
    return tuple(bug_of(entry) for entry in entries() if entry.affects(release_of(release), own))


def bug_of(entry: LedgerEntry) -> Bug:
    """Return an entry with the library run that shows it: one of its own, else another's."""
    own = _shown_by(entry.flags)
    if own is not None or entry.jira not in shown():
        return Bug(entry, own)
    code, moves = shown()[entry.jira]
    return Bug(entry, find(code), moves)


def _mode(release: str, mode: str) -> str:
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


def upgrade(before: str, after: str, mode: str = "") -> Upgrade:
    """Compare two releases; `mode` is how the cluster runs before ("": what is usual).

    Raises InputError for a mode that the release does not have.
    """
    mode = _mode(before, mode)
    later = mode if mode in modes_of(after) else modes_of(after)[0]
    old, new = release_of(before), release_of(after)

    def bugs(chosen: Callable[[bool, bool], bool]) -> tuple[Bug, ...]:
        return tuple(
            bug_of(entry)
            for entry in entries()
            if chosen(entry.affects(old, mode), entry.affects(new, later))
        )

    return Upgrade(
        _profile(before, mode),
        _profile(after, later),
        bugs(lambda had, has: had and not has),
        bugs(lambda had, has: has and not had),
        bugs(lambda had, has: had and has),
        tuple(_changes(old, mode, new, later)),
    )


def _profile(release: str, mode: str) -> str:
    """Return the address of a release of this mode: "3.5.2-zk" where KRaft is the usual one."""
    return f"{release}-zk" if mode == ZK and len(modes_of(release)) > 1 else release


def _changes(old: Release, mode: str, new: Release, later: str) -> list[Change]:
    fixes = {name for entry in entries() for name in entry.flags}
    return [
        Change(flag, flag.value(later, new), _shown_by((flag.name,)))
        for flag in FLAG_LIST
        if flag.name not in fixes and flag.value(mode, old) != flag.value(later, new)
    ]


def _shown_by(flags: tuple[str, ...]) -> Scenario | None:
    """Return the library scenario that plays a cluster with and without one of these flags."""
    return next((found for name in flags if (found := _scenarios().get(name))), None)


@cache
def _scenarios() -> dict[str, Scenario]:
    """Return flag -> the first scenario that shows it.

    It flips the flag, or its origin is the flag's bug: it then plays the last release that has the
    bug and the first that has not.
    """
    of_bug = {entry.jira: entry.flags for entry in entries()}
    found: dict[str, Scenario] = {}
    for scenario in library().values():
        names = [name for one in scenario.profiles for name in _FLIP.findall(one)]
        for jira in _BUG.findall(scenario.origin):
            names += of_bug.get(jira, ())
        played = [get_profile(one).flags() for one in scenario.profiles]
        for name in names:
            if len({flags.get(name) for flags in played}) > 1:
                found.setdefault(name, scenario)
    return found
