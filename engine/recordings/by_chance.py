"""Totals of random scripts on real brokers, as `highwater lab --random` counts them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

FILE: Final = "by_chance.json"


@dataclass(frozen=True, slots=True)
class ChanceFinding:
    """One cause of a difference that a second play repeated.

    `what` is a sentence by language; `moves` the shortest script; `of` is "model" or "laboratory".
    """

    what: dict[str, str]
    moves: tuple[str, ...]
    of: str
    mended: bool


@dataclass(frozen=True, slots=True)
class ChanceTotals:
    """Scripts of one release: facts `equal` and `different` when each was played last.

    `voters`: the controllers of the quorum that they are for; 0 for scripts of brokers.
    """

    kafka: str
    profile: str
    scripts: int
    moves: int
    equal: int
    different: int
    seconds: float
    """Median of a script."""
    findings: tuple[ChanceFinding, ...]
    voters: int = 0

    @property
    def mended(self) -> int:
        return sum(finding.mended for finding in self.findings)


def read_file() -> dict[str, Any]:
    """Return the data of the file that comes with the engine."""
    text = (resources.files("engine.recordings") / FILE).read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def totals() -> tuple[ChanceTotals, ...]:
    """Return the totals of each release, the oldest first, as they come with the engine."""
    return tuple(
        ChanceTotals(
            **row
            | {
                "findings": tuple(
                    ChanceFinding(**finding | {"moves": tuple(finding["moves"])})
                    for finding in row["findings"]
                )
            }
        )
        for row in read_file()["releases"]
    )
