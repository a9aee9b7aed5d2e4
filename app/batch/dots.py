"""The first runs of each side of a study, one by one, for a grid of dots."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from app.batch import records, wire
from app.batch.computation import FAILURES_KEPT
from app.storage.database import Database
from app.storage.models import BatchRow
from engine.study.batch import ERROR, LOST, UNPROMISED

DOTS: Final = 200
"""Runs of a side that are drawn."""
SIDES: Final = 6
LOSES, GONE, BREAKS, FAILS, HOLDS = "lost", "gone", "broken", "error", "held"


def dots(database: Database, batch: BatchRow, cells: list[wire.CellJson]) -> list[wire.Dots]:
    """Return the dots of the first sides whose runs are all there.

    [{profile, cell, label, runs, lost, dots: [{seed, kind, url}]}]; a run is lost, gone,
    broken, error or held.

    Of a side with more failures than are kept, only the runs up to the last one that is known.
    """
    whole = [cell for cell in cells if cell["n"] and cell["n"] + cell["errors"] >= batch.runs]
    return [_side(database, batch, cell) for cell in whole[:SIDES]]


def _side(database: Database, batch: BatchRow, cell: wire.CellJson) -> wire.Dots:
    wanted = records.FailureFilter(cell["profile"], "", cell["cell"], "seed")
    _, found = records.failures(database, batch, wanted, 0, None)
    seeds: dict[str, list[int]] = {}
    for one in found:
        seeds.setdefault(one.invariant, []).append(one.seed)
    until = batch.first_seed + min(DOTS, batch.runs)
    for name, known in seeds.items():
        hits = cell["errors"] if name == ERROR else _hits(cell, name)
        if hits > len(known):
            until = min(until, sorted(known)[:FAILURES_KEPT][-1] + 1)
    named: dict[int, str] = {}
    for name in sorted(seeds, key=lambda one: (one != LOST, one != UNPROMISED, one == ERROR, one)):
        for seed in seeds[name]:
            named.setdefault(seed, name)
    return {
        "profile": cell["profile"],
        "cell": cell["cell"],
        "label": cell["label"],
        "runs": cell["n"],
        "lost": _hits(cell, LOST),
        "dots": [
            {
                "seed": seed,
                "kind": _kind(named.get(seed, "")),
                "url": _url(batch, cell, seed, named.get(seed, "")),
            }
            for seed in range(batch.first_seed, until)
        ],
    }


def _hits(cell: wire.CellJson, invariant: str) -> int:
    count = cell["broken"].get(invariant)
    return count["hits"] if count else 0


def _kind(invariant: str) -> str:
    return {LOST: LOSES, UNPROMISED: GONE, ERROR: FAILS, "": HOLDS}.get(invariant, BREAKS)


def _url(batch: BatchRow, cell: wire.CellJson, seed: int, invariant: str) -> str:
    """Return the link to a run: just before it fails, or at its beginning if it does not."""
    place = f"{quote(cell['profile'], safe='+')}/{cell['cell']}/{seed}"
    kind = "failure" if invariant else "row"
    return f"/batch/{batch.id}/{kind}/{place}" + (f"/{invariant}" if invariant else "")
