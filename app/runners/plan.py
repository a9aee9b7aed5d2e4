"""What a batch consists of: scenarios x profiles x seeds, cut into chunks of about a second.

A row is a function of (scenario, profile, cell, seed) alone, and a chunk's bounds are a function of
its number: whoever computes a chunk, and however often, the same rows come out under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

CHUNK_SECONDS = 1.0
CHUNK_RUNS_MAX = 20_000
CHUNKS_AT_LEAST = 16


class Chunk(NamedTuple):
    """Consecutive seeds of one profile and cell: one Spark task, one Parquet file."""

    number: int
    profile: str
    cell: int
    first_seed: int
    runs: int


class Tally(NamedTuple):
    """What the driver learns of a finished chunk: counts, never rows.

    Of a tilted plan `weights` holds, of each invariant that was broken and of "any", the sum of
    the weights of the runs that broke it and that of their squares; as "heaviest", in a list of
    one, the largest weight of a run in which a fault struck.
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
class Plan:
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
    def total_runs(self) -> int:
        return self.runs * len(self.profiles) * len(self.scenarios)

    @property
    def tilted(self) -> bool:
        """Whether runs count differently: some fault has an importance factor."""
        return tilted(self.scenarios)

    @property
    def slices(self) -> int:
        return sum(-(-part // self.chunk_runs) for part in self.parts or (self.runs,))

    @property
    def total_chunks(self) -> int:
        return self.slices * len(self.profiles) * len(self.scenarios)

    def chunks(self) -> Iterator[Chunk]:
        """All chunks, a slice of seeds after the other.

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
        """(first seed, how many) of every slice."""
        seed = self.first_seed
        for part in self.parts or (self.runs,):
            for start in range(0, part, self.chunk_runs):
                yield seed + start, min(self.chunk_runs, part - start)
            seed += part


def tilted(scenarios: Sequence[dict[str, Any]]) -> bool:
    """Whether some fault of these has an importance factor.

    Futures of a run have none: from the present on faults strike at their true rates.
    """
    return any(
        fault.get("importance", 1) != 1
        for scenario in scenarios
        for fault in scenario.get("faults", ())
    )


def chunk_size(runs: int, groups: int, runs_per_s: float) -> int:
    """Runs in a chunk: about a second's worth, yet enough chunks for an even load and progress.

    `groups` is profiles x cells, `runs_per_s` the measured speed of one process.
    """
    slices_wanted = -(-CHUNKS_AT_LEAST // groups)
    for_progress = -(-runs // slices_wanted)
    for_a_second = int(runs_per_s * CHUNK_SECONDS)
    return max(1, min(for_a_second, for_progress, CHUNK_RUNS_MAX))
