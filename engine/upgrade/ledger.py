"""Ledger of replication bugs in Kafka's history: releases that have them, and runs that show them.

`ledger.json` has an entry for each: the releases that introduced and fixed it, the class and
method, how severe it is for an operator, and the flags of the engine that play it, or why none
does.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from engine.model.flags import KRAFT, ZK, Release, release_of
from engine.model.languages import words_of
from engine.model.profiles import RELEASES

FILE: Final = "ledger.json"
USES: Final = "uses.json"
"""Feature -> bugs that only clusters with this feature can meet."""
LINES: Final = "lines.json"
"""Bug -> templates of the lines that a broker or a client logs when it is met."""
SHOWN: Final = "shown.json"
"""Bug -> a run of the library, or moves in one, that plays differently under the bug's flag."""
BOTH: Final = "both"
MODES: Final = (ZK, KRAFT, BOTH)


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
        known = [text for mode in modes for text in RELEASES[mode]]
        hit = [text for text in known if self.affects(release_of(text))]
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
    rows = json.loads((files("engine.upgrade") / LINES).read_text("utf-8"))
    return {jira: tuple(templates) for jira, templates in rows.items()}


@cache
def shown() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return bug -> the code of a scenario, and moves instead of its script (none: its own)."""
    rows = json.loads((files("engine.upgrade") / SHOWN).read_text("utf-8"))
    return {
        jira: (row["run"], tuple(filter(None, (one.strip() for one in row["moves"].split(";")))))
        for jira, row in rows.items()
    }


@cache
def features() -> dict[str, tuple[str, ...]]:
    """Return feature -> JIRA numbers of the bugs that need it."""
    rows = json.loads((files("engine.upgrade") / USES).read_text("utf-8"))
    return {name: tuple(bugs) for name, bugs in rows.items()}


@cache
def entries() -> tuple[LedgerEntry, ...]:
    """Return all entries, the most severe first."""
    rows = json.loads((files("engine.upgrade") / FILE).read_text("utf-8"))
    return tuple(
        LedgerEntry(**{**row, "fixed": tuple(row["fixed"]), "flags": tuple(row["flags"])})
        for row in rows
    )
