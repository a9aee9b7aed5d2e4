"""Plan of a batch: scenarios x profiles x seeds, cut into chunks of about a second.

A row is a function of (scenario, profile, cell, seed) alone, and a chunk's bounds are a function of
its number: whichever worker computes a chunk, and however often, the same rows come out under the
same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from engine.advisor.cycle_rows import CYCLES

CHUNK_SECONDS = 1.0
CHUNK_SECONDS_MOST = 10.0
"""Longest chunk of a long batch: the work that a lost worker costs, and the pace of progress."""
CHUNK_RUNS_MAX = 20_000
CHUNKS_AT_LEAST = 16
CHUNKS_WANTED = 10_000
"""A batch of more chunks of a second gets longer ones."""
CHUNKS_MOST = 30_000
"""Each is a task of Spark, a file, and a few hundred bytes in the driver."""


class Chunk(NamedTuple):
    """Consecutive seeds of one profile and cell: one Spark task, one Parquet file."""

    number: int
    profile: str
    cell: int
    first_seed: int
    runs: int


class PlanTally(NamedTuple):
    """Counts of a finished chunk, sent to the driver in place of its rows.

    Of a tilted plan `weights` holds, of each invariant that was broken and of "any", the sum of the
    weights of the runs that broke it and that of their squares; as "heaviest", in a list of one,
    the largest weight of a run in which a fault struck.  Of trees of cycles it holds their sums
    (engine/advisor/cycle_rows.py).
    """

    number: int
    profile: str
    cell: int
    runs: int
    violating: int
    errors: int
    broken: dict[str, int]
    weights: dict[str, list[float]]


@dataclass(frozen=True)
class BatchPlan:
    """A batch ready to be computed: one scenario (plain data) per cell, `runs` seeds for each.

    Where runs were added later, `parts` says how many each time; every part has its own chunks, so
    that those which are done stay what they are.
    """

    scenarios: tuple[dict[str, Any], ...]
    profiles: tuple[str, ...]
    runs: int
    first_seed: int
    chunk_runs: int
    metrics: tuple[str, ...]
    parts: tuple[int, ...] = ()

    @property
    def groups(self) -> int:
        return len(self.profiles) * len(self.scenarios)

    @property
    def total_runs(self) -> int:
        return self.runs * self.groups

    @property
    def tilted(self) -> bool:
        """True where runs count differently: some fault has an importance factor."""
        return tilted(self.scenarios)

    @property
    def futures(self) -> bool:
        """True where the cells are presents of one run instead of scenarios."""
        return "present" in self.scenarios[0]

    @property
    def slices(self) -> int:
        """Number of slices of the seeds, that is of chunks for each profile and cell."""
        return sum(-(-part // self.chunk_runs) for part in self.parts or (self.runs,))

    @property
    def total_chunks(self) -> int:
        return self.slices * self.groups

    def chunks(self) -> Iterator[Chunk]:
        """Yield all chunks, a slice of seeds after the other.

        Cells and profiles take turns within a slice, so that interim results grow together and a
        cancelled batch can still be compared seed by seed.
        """
        number = 0
        for first, runs in self._seeds():
            for cell in range(len(self.scenarios)):
                for profile in self.profiles:
                    yield Chunk(number, profile, cell, first, runs)
                    number += 1

    def _seeds(self) -> Iterator[tuple[int, int]]:
        """Yield (first seed, number of seeds) of every slice."""
        seed = self.first_seed
        for part in self.parts or (self.runs,):
            for start in range(0, part, self.chunk_runs):
                yield seed + start, min(self.chunk_runs, part - start)
            seed += part


def of_cycles(scenarios: Sequence[dict[str, Any]]) -> bool:
    """Check whether a row is a tree of cycles (engine/advisor/cycle_rows.py)."""
    return CYCLES in scenarios[0]


def tilted(scenarios: Sequence[dict[str, Any]]) -> bool:
    """Check whether some fault of these has an importance factor.

    Futures of a run have none: from the present on faults strike at their true rates.
    """
    return any(
        fault.get("importance", 1) != 1
        for scenario in scenarios
        for fault in scenario.get("faults", ())
    )


def chunk_size(runs: int, groups: int, runs_per_s: float) -> int:
    """Return the runs in a chunk: about a second's worth, yet enough chunks for an even load.

    Where these would be more than CHUNKS_WANTED, chunks last longer, up to CHUNK_SECONDS_MOST.
    `groups` is profiles x cells, `runs_per_s` the measured speed of one process.
    """
    slices_wanted = -(-CHUNKS_AT_LEAST // groups)
    for_progress = -(-runs // slices_wanted)
    for_a_second = int(runs_per_s * CHUNK_SECONDS)
    for_few_chunks = -(-runs // max(1, CHUNKS_WANTED // groups))
    at_longest = int(runs_per_s * CHUNK_SECONDS_MOST)
    size = max(for_a_second, min(for_few_chunks, at_longest))
    return max(1, min(size, for_progress, CHUNK_RUNS_MAX))


def sized(plan: BatchPlan, runs_per_s: float) -> BatchPlan:
    """Return the same runs in chunks for this speed of one process."""
    return replace(plan, chunk_runs=chunk_size(plan.runs, plan.groups, runs_per_s))


def grown(plan: BatchPlan, runs: int) -> BatchPlan:
    """Return the plan with `runs` more seeds for each profile and cell."""
    parts = (*(plan.parts or (plan.runs,)), runs)
    return replace(plan, runs=plan.runs + runs, parts=parts)
