"""Comparison of two releases: bugs mended, bugs that stay, bugs that come, changes on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.catalogue.bugs import Bug, bug_of, entries, mode_of, modes_of, shown_by
from engine.model.flags import FLAG_LIST, ZK, Flag, Release, release_of
from engine.scenarios.scenario import Scenario


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


def upgrade(before: str, after: str, mode: str = "") -> Upgrade:
    """Compare two releases; `mode` is how the cluster runs before ("": what is usual).

    Raises InputError for a mode that the release does not have.
    """
    mode = mode_of(before, mode)
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
        Change(flag, flag.value(later, new), shown_by((flag.name,)))
        for flag in FLAG_LIST
        if flag.name not in fixes and flag.value(mode, old) != flag.value(later, new)
    ]
