"""Comparison of two studies run by run, over the seeds that both played.

Read from the rows on disk, a few columns of those chunks that can hold a common seed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from app.batch import statistics
from app.batch.runners.plan import BatchPlan
from app.batch.runners.rows import ANY, chunks_on_disk, read_chunks
from app.core.memoize import last
from app.storage.models import BatchRow

ROWS_MOST: Final = 200_000
"""Of both studies together: read within a second or so."""
KEPT: Final = 16

Pairs = dict[str, statistics.Paired]
"""By invariant; one that neither broke is not in it."""
Broken = dict[int, frozenset[str]]


@dataclass(frozen=True)
class Rows:
    """Location of the rows of one profile and cell of a study."""

    directory: str
    cells: int
    profiles: tuple[str, ...]
    runs: int
    first_seed: int
    chunk_runs: int
    parts: tuple[int, ...]
    done_chunks: int
    profile: str
    cell: int

    @staticmethod
    def of(directory: str, batch: BatchRow, profile: str, cell: int) -> Rows:
        return Rows(
            directory,
            len(batch.cells),
            tuple(batch.profiles),
            batch.runs,
            batch.first_seed,
            batch.cells[0].get("chunk_runs", 0),
            tuple(batch.parts),
            batch.done_chunks,
            profile,
            cell,
        )

    def broken(self, first: int, last: int) -> Broken:
        """Return what each played seed broke; runs that failed themselves are left out."""
        if not self.chunk_runs:
            return {}
        nothing: tuple[dict[str, Any], ...] = ({},) * self.cells
        plan = BatchPlan(
            nothing, self.profiles, self.runs, self.first_seed, self.chunk_runs, (), self.parts
        )
        wanted = {
            chunk.number
            for chunk in plan.chunks()
            if (chunk.profile, chunk.cell) == (self.profile, self.cell)
            and chunk.first_seed <= last
            and chunk.first_seed + chunk.runs > first
        }
        found: Broken = {}
        there = wanted & chunks_on_disk(self.directory)
        columns = ["seed", "verdict", "broken"]
        for row in read_chunks(self.directory, there, columns, (first, last)):
            if row["verdict"] != "error":
                names = {one["invariant"] for one in row["broken"]}
                found[row["seed"]] = frozenset(
                    names | {ANY} if row["verdict"] == "violates" else names
                )
        return found


def common_seeds(a: BatchRow, b: BatchRow) -> tuple[int, int] | None:
    """Return (first, last) of the seeds that both were asked to play."""
    first = max(a.first_seed, b.first_seed)
    last = min(a.first_seed + a.runs, b.first_seed + b.runs) - 1
    return (first, last) if first <= last else None


@last(KEPT * 64)
def paired(a: Rows, b: Rows, first: int, last: int) -> Pairs:
    """Return the table of the seeds both played, for every invariant that either broke, and any."""
    mine, theirs = a.broken(first, last), b.broken(first, last)
    common = mine.keys() & theirs.keys()
    masks: dict[str, Counter[int]] = {}
    for seed in common:
        for name in mine[seed] | theirs[seed]:
            mask = (name in mine[seed]) + 2 * (name in theirs[seed])
            masks.setdefault(name, Counter())[mask] += 1
    if common:
        masks.setdefault(ANY, Counter())
    for counts in masks.values():
        counts[0] = len(common) - counts.total()
    return {name: statistics.paired(counts, 0, 1) for name, counts in masks.items()}
