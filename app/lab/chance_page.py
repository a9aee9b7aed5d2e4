"""Totals of random scripts for /real, from the results that `highwater lab --random` wrote.

usage: python -m app.lab.chance_page DIRECTORY...

Prints the new engine/recordings/by_chance.json.  Findings are kept as they are: what
caused a difference is a person's verdict.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from app.lab.random_play import QUORUM, RandomResults, RandomTotals, totals_of
from app.lab.releases import release_of
from engine.model.json_types import Json
from engine.recordings.by_chance import read_file
from engine.recordings.reading import release_order


class ReleaseTotals(RandomTotals):
    """Totals of a release, of its brokers or of a quorum; `voters` is 0 for brokers."""

    voters: int
    kafka: str
    profile: str
    findings: list[Json]


class MergedTotals(TypedDict):
    format: int
    releases: list[ReleaseTotals]


def merged(directories: Iterable[Path]) -> MergedTotals:
    """Return the file's data with the releases of these results replaced.  Raises LabError."""
    rows: dict[tuple[str, int], ReleaseTotals] = {
        (row["kafka"], row.get("voters", 0)): row for row in read_file()["releases"]
    }
    for directory in directories:
        _, _, number = directory.name.partition(QUORUM)
        voters = int(number) if number.isdecimal() else 0
        for path in sorted(directory.glob("results-*.json")):
            _, kafka, seed = path.stem.split("-")
            results = RandomResults.load(directory, kafka, int(seed))
            counts = rows.get((kafka, voters))
            rows[kafka, voters] = {
                "kafka": kafka,
                "profile": release_of(kafka).profile,
                "voters": voters,
                **totals_of(results),
                "findings": counts["findings"] if counts else [],
            }
    return {"format": 1, "releases": sorted(rows.values(), key=_order)}


def _order(row: ReleaseTotals) -> tuple[int, list[int]]:
    return row.get("voters", 0), release_order(row["kafka"])


if __name__ == "__main__":
    print(json.dumps(merged(map(Path, sys.argv[1:])), ensure_ascii=False, indent=1))
