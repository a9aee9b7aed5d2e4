"""The advisor's table: replicas × racks × failures, each cell until it is known well enough.

A cell is one setting under one preset of failures, played as trees of cycles (engine/study) in a
few processes.  A pilot says how many trees it will take; that many are played and looked at, and
more where they did not do.  Every look pays for those before it, and all intervals of the table
hold together (`Look`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, field
from itertools import product
from math import ceil, inf
from typing import Final

from scipy import special

from app.advisor.result import how_long
from app.batch import cycles
from app.batch.intervals import Look, is_within
from app.batch.processes import BatchWorkers, pool
from app.batch.runners.rows import together
from app.batch.wire import AdviceRates
from app.core import clock
from engine.advisor import advice
from engine.advisor.advice import Setting
from engine.advisor.closed_form import overlaps_by_size
from engine.advisor.cycle_rows import BUSY, LOST, WAITS, subject, sums_of
from engine.model.json_types import Json
from engine.study.batch import run_chunk

CHUNK_S: Final = 1.0
"""About so long is a chunk: soon enough to end with a budget."""
CHUNK_MOST: Final = 50
LEAST: Final = 12
"""Trees of a first look."""
TREES_MOST: Final = 1_000_000
SPARE: Final = 1.3
"""A pilot is short: what it lets expect is played and a bit more, lest there be a second look."""
TIMES: Final = (1.5, 4.0)
"""Growth of the number of trees from one look to the next, at least and at most."""
LOOKS_EXPECTED: Final = 2
PILOT_PART: Final = 0.25
"""Of the budget of a cell, no tree of a pilot begins later."""
PILOT_TIMES: Final = 1.5
STARTING_S: Final = 5.0
LONGER: Final = 3.0
"""A last chunk may take this many times as long as the longest so far; with as many waiting."""

Sums = dict[str, list[float]]


@dataclass
class AdviceCell:
    """One setting under one preset, and its results."""

    preset: str
    setting: Setting
    effort: dict[str, float] = field(default_factory=dict)
    pilot: Sums = field(default_factory=dict)
    pilot_trees: int = 0
    each_s: float = 0.0
    sums: Sums = field(default_factory=lambda: {LOST: [0.0, 0.0], WAITS: [0.0, 0.0], BUSY: [0.0]})
    trees: int = 0
    failed: int = 0
    left: int = 0
    """Trees that had begun and were not waited for."""
    looks: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    ended: str = "waiting"
    """`known` as well as was asked, out of `budget`, `stopped` by hand, or waiting."""

    @property
    def name(self) -> str:
        racks = self.setting.racks
        return f"{self.preset}, RF {self.setting.factor}, {racks} rack{'s' if racks > 1 else ''}"


def cells(
    presets: Sequence[str], racks: Sequence[int], factors: Sequence[int], profile: str
) -> list[AdviceCell]:
    """Return the cells of the table.  Raises InputError for what cannot be.

    min.insync.replicas is one less than the replicas, as most have it, and at least one.
    """
    listed = []
    for preset, rack, factor in product(presets, racks, factors):
        setting = Setting(profile, max(3, rack, factor), factor, max(1, factor - 1), racks=rack)
        advice.check(setting, advice.PRESETS[preset])
        listed.append(AdviceCell(preset, setting))
    return listed


def foreseen(total: float, squares: float, trees: int, within: float, at_once: int = 1) -> float:
    """Return the trees until the first look, from the losses of a pilot and their squares.

    Inf where it met none.
    """
    if not total:
        return inf
    z = special.ndtri(1 - Look(at_once, LOOKS_EXPECTED).alpha_of_look / 2)
    return max(LEAST, ceil(SPARE * trees * squares / total**2 * (z / within) ** 2))


def grown_to(n: int, rate: float, low: float, high: float, within: float) -> int:
    """Apply the stop rule: return 0 where n trees suffice, else the trees until the next look.

    Each look spends its part of what may be missed (`Look`).
    """
    if n and is_within(rate, low, high, within):
        return 0
    least, most = TIMES
    wide = max(high - rate, rate - low)
    times = (wide / (within * rate)) ** 2 if rate else most
    return ceil(max(n, LEAST) * min(most, max(least, times)))


class AdviceTable:
    """Table of cells, each played to `within` (a share of its losses) or for `budget_s`."""

    def __init__(
        self,
        rows: Sequence[AdviceCell],
        within: float,
        budget_s: float,
        jobs: int,
        tell: Callable[[str], None],
    ) -> None:
        self.rows, self.within, self.budget_s, self.jobs = rows, within, budget_s, jobs
        self.told = tell

    def play(self, only_estimate: bool = False) -> bool:
        """Play the pilots, then each cell.

        Return False if Ctrl+C ended it early, with the results so far.
        """
        pilots = self._pilots_s()
        whole = pilots if only_estimate else pilots + len(self.rows) * self.budget_s
        self.told(
            f"{len(self.rows)} cells, each until ± {self.within:.0%} or for {self.budget_s:,.0f} s "
            f"on {self.jobs} processes: at most {self._long(whole)} in all, of which "
            f"{self._long(pilots)} for pilots; Ctrl+C ends it with what it has."
        )
        with BatchWorkers(self.jobs, pool) as workers:
            try:
                self._pilots(workers, clock.monotonic() + pilots)
                for cell in () if only_estimate else self.rows:
                    self._cell(workers, cell)
                    self.told(f"{cell.name}: {cell.ended}, {cell.trees:,} trees")
            except KeyboardInterrupt:
                for cell in self.rows:
                    if cell.ended == "waiting":
                        cell.ended = "stopped"
                        cell.looks += 1
                return False
        return True

    def _pilot_s(self) -> float:
        """Return the seconds within which a tree of one cell's pilot may begin."""
        return min(cycles.PILOT_S, PILOT_PART * self.budget_s)

    def _pilots_s(self) -> float:
        """Return the seconds for the pilots of all cells; later ones are not awaited."""
        return ceil(len(self.rows) / self.jobs) * PILOT_TIMES * self._pilot_s() + STARTING_S

    def _pilots(self, workers: BatchWorkers, until: float) -> None:
        waiting = [
            workers.submit(pilot, cell.preset, cell.setting, self._pilot_s()) for cell in self.rows
        ]
        whole = 0.0
        for cell, future in zip(self.rows, waiting, strict=True):
            try:
                piloted = future.result(max(0.0, until - clock.monotonic()))
            except TooLate:
                workers.stop()
                self.told(f"{cell.name}: no pilot in time")
                continue
            cell.effort, cell.pilot, cell.pilot_trees, cell.each_s = piloted
            needed = self.needed(cell)
            seconds = needed * cell.each_s / self.jobs
            whole += min(seconds, self.budget_s)
            self.told(f"{cell.name}: {self._foretold(cell, needed, seconds)}")
        self.told(f"All cells: about {self._long(whole)}, as a guess from pilots.")

    def _foretold(self, cell: AdviceCell, needed: float, seconds: float) -> str:
        if needed == inf:
            return "no loss in the pilot; the whole budget may not meet one"
        enough = (
            f"needs about {needed:,.0f} trees, {self._long(seconds)}, as a guess from a pilot of "
            f"{cell.pilot_trees}"
        )
        if seconds <= self.budget_s:
            return enough
        return f"{enough}: more than its budget, so that its interval will be wider"

    def needed(self, cell: AdviceCell) -> float:
        """Return the trees that the pilot predicts; inf where it met no loss."""
        total, squares = cell.pilot.get(LOST, (0.0, 0.0))
        return foreseen(total, squares, cell.pilot_trees, self.within, len(self.rows))

    def _look(self, number: int) -> Look:
        return Look(at_once=len(self.rows), growing=number)

    def _cell(self, workers: BatchWorkers, cell: AdviceCell) -> None:
        began = clock.monotonic()
        until = began + self.budget_s
        needed = self.needed(cell)
        trees = 10 * LEAST if needed == inf else int(needed)
        while True:
            whole = self._grow(workers, cell, min(trees, TREES_MOST), until)
            cell.looks += 1
            cell.wall_s = clock.monotonic() - began
            lost = self.rates(cell)["lost"] if cell.trees else {"rate": 0, "low": 0, "high": inf}
            more = grown_to(cell.trees, lost["rate"], lost["low"], lost["high"], self.within)
            if not more:
                cell.ended = "known"
                return
            if not whole or cell.trees >= TREES_MOST:
                cell.ended = "budget"
                return
            trees = more

    def _grow(self, workers: BatchWorkers, cell: AdviceCell, trees: int, until: float) -> bool:
        """Play up to `trees` trees, in the order of their seeds; False where time ran out.

        Counting only what is done at a moment would count too few of the long trees, which are the
        heavy ones: the last trees begin early enough to be waited for.
        """
        seconds = min(CHUNK_S, PILOT_PART * self.budget_s)
        size = max(1, min(CHUNK_MOST, int(seconds / max(cell.each_s, 1e-3))))
        question = subject(cell.setting, advice.PRESETS[cell.preset], cell.effort)
        waiting: deque[tuple[int, Future[tuple[list[Json], float]]]] = deque()
        first = cell.trees + cell.failed
        last = first + trees - cell.trees
        longest = size * cell.each_s
        while first < last or waiting:
            soon = until - LONGER * longest
            while first < last and len(waiting) <= self.jobs and clock.monotonic() < soon:
                count = min(size, last - first)
                chunk = {"scenario": question, "profile": cell.setting.profile, "cell": 0,
                         "first_seed": first, "count": count}  # fmt: skip
                waiting.append((count, workers.submit(grown, chunk)))
                first += count
            if not waiting:
                return False
            count, future = waiting.popleft()
            try:
                rows, spent = future.result(max(0.0, until - clock.monotonic()))
            except TooLate:
                cell.left += count + sum(others for others, _ in waiting)
                workers.stop()
                return False
            longest = max(longest, spent)
            cell.cpu_s += spent
            self._add(cell, rows)
        return True

    def _add(self, cell: AdviceCell, rows: list[Json]) -> None:
        failed = sum(row["verdict"] == "error" for row in rows)
        cell.failed += failed
        cell.trees += len(rows) - failed
        for name, values in sums_of(rows).items():
            cell.sums[name] = together(name, cell.sums.get(name, [0.0] * len(values)), values)

    def rates(self, cell: AdviceCell) -> AdviceRates:
        """Return `cycles.rates` for the last look at a cell that has trees."""
        overlaps = overlaps_by_size(cell.setting, advice.PRESETS[cell.preset])
        return cycles.rates(cell.sums, cell.trees, self._look(cell.looks), overlaps)

    def report(self) -> list[Json]:
        """Return a dictionary for each cell of the table.

        {"preset", "racks", "factor", "min_isr", "lost": {hits, rate, low, high} of a year, "down":
        seconds of a year, "formula": overlaps of a year, "trees", "cycles", "looks", "pilot":
        {trees, needed, seconds}, "cpu_s", "wall_s", "ended"}; lost and down are None where no tree
        was played.
        """
        return [self._cell_json(cell) for cell in self.rows]

    def _cell_json(self, cell: AdviceCell) -> Json:
        rates = self.rates(cell) if cell.trees else {"lost": None, "down": None, "cycles": 0}
        needed = self.needed(cell) if cell.pilot else inf
        overlaps = overlaps_by_size(cell.setting, advice.PRESETS[cell.preset])
        return {
            "preset": cell.preset,
            "racks": cell.setting.racks,
            "factor": cell.setting.factor,
            "min_isr": cell.setting.min_isr,
            "lost": rates["lost"],
            "down": rates["down"],
            "formula": sum(overlaps.values()),
            "trees": cell.trees,
            "failed": cell.failed,
            "left": cell.left,
            "cycles": rates["cycles"],
            "looks": cell.looks,
            "pilot": {
                "trees": cell.pilot_trees,
                "needed": None if needed == inf else needed,
                "seconds": None if needed == inf else needed * cell.each_s / self.jobs,
            },
            "cpu_s": round(cell.cpu_s, 2),
            "wall_s": round(cell.wall_s, 2),
            "ended": cell.ended,
        }

    @staticmethod
    def _long(seconds: float) -> str:
        key, args = how_long(seconds)
        return f"{args['n']} {key.rpartition('.')[2]}"


def pilot(
    preset: str, setting: Setting, seconds: float
) -> tuple[dict[str, float], Sums, int, float]:
    """Play a few trees in a process: (copies of each path, sums, trees, CPU-seconds a tree)."""
    pilots: list[tuple[Sums, int]] = []
    began, until = clock.processor(), clock.monotonic() + seconds
    effort = cycles.pilot(
        setting,
        advice.PRESETS[preset],
        setting.profile,
        lambda sums, n: pilots.append((sums, n)),
        lambda: clock.monotonic() > until,
    )
    sums, trees = pilots[-1]
    return effort, sums, trees, (clock.processor() - began) / trees


def grown(chunk: Json) -> tuple[list[Json], float]:
    """Play the trees of a chunk in a process: (rows, CPU-seconds)."""
    began = clock.processor()
    return run_chunk(chunk), clock.processor() - began


def lines(report: Sequence[Json], within: float) -> Iterator[str]:
    """Yield the table as text."""
    yield (
        f"{'preset':<8} {'racks':>5} {'RF':>3}  {'losses a year':>13}  {'95 %':<19}  {'formula':>8}"
        f"  {'trees':>7}  {'cycles':>9}  {'CPU-s':>7}  ended"
    )
    for row in report:
        lost = row["lost"]
        ends = f"{lost['low']:.2g} – {lost['high']:.2g}" if lost else "–"
        yield (
            f"{row['preset']:<8} {row['racks']:>5} {row['factor']:>3}"
            f"  {format(lost['rate'], '.3g') if lost else '–':>13}  {ends:<19}"
            f"  {row['formula']:>8.2g}  {row['trees']:>7,}  {row['cycles']:>9,}"
            f"  {row['cpu_s']:>7,.1f}  {row['ended']}"
        )
    yield ""
    yield (
        f"All {len(report)} intervals hold together, however often a cell was looked at. known: "
        f"within ± {within:.0%}; formula: how often all replicas are out at once, of which not "
        "each loses."
    )
