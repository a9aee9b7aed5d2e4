"""The advisor's table: replicas × racks × failures, each cell until it is known well enough.

A cell is one setting under one preset of failures, played as trees of cycles (engine/study) in a
few processes.  A pilot says how many trees it will take; that many are played and looked at, and
more where they did not do.  Every look pays for those before it, and all intervals of the table
hold together (`Look`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, field
from itertools import product
from math import ceil, inf
from typing import Any, Final

from scipy import special

from app.batch import cycles
from app.batch.advice_result import how_long
from app.batch.intervals import Look, is_within
from app.batch.processes import pool
from app.common import clock
from engine.study import advice
from engine.study.advice import Setting
from engine.study.batch import run_chunk
from engine.study.closed_form import overlaps_by_size
from engine.study.cycle_rows import BUSY, HEAVIEST_OF, LOST, WAITS, subject, sums_of

CHUNK_S: Final = 1.0
"""About so long is a chunk: soon enough to end with a budget."""
CHUNK_MOST: Final = 50
LEAST: Final = 12
"""Trees of a first look."""
TREES_MOST: Final = 1_000_000
SPARE: Final = 1.3
"""A pilot is short: what it lets expect is played and a bit more, lest there be a second look."""
TIMES: Final = (1.5, 4.0)
"""A look has so many times the trees of the one before."""
LOOKS_EXPECTED: Final = 2
PILOT_PART: Final = 0.25
"""Of the budget of a cell, a pilot takes so much at most."""

Json = dict[str, Any]
Sums = dict[str, list[float]]


@dataclass
class Cell:
    """One setting under one preset, and what was played of it."""

    preset: str
    setting: Setting
    effort: dict[str, float] = field(default_factory=dict)
    pilot: Sums = field(default_factory=dict)
    pilot_trees: int = 0
    each_s: float = 0.0
    sums: Sums = field(default_factory=lambda: {LOST: [0.0, 0.0], WAITS: [0.0, 0.0], BUSY: [0.0]})
    trees: int = 0
    failed: int = 0
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
) -> list[Cell]:
    """The table; min.insync.replicas is one less than the replicas, as most have it, and at least
    one.  Raises BadInput for what cannot be."""
    found = []
    for preset, rack, factor in product(presets, racks, factors):
        setting = Setting(profile, max(3, rack, factor), factor, max(1, factor - 1), racks=rack)
        advice.check(setting, advice.PRESETS[preset])
        found.append(Cell(preset, setting))
    return found


class Table:
    """Plays cells to `within` (a share of the losses, to either side) or for `budget_s` each."""

    def __init__(
        self,
        rows: Sequence[Cell],
        within: float,
        budget_s: float,
        jobs: int,
        told: Callable[[str], None],
    ) -> None:
        self.rows, self.within, self.budget_s, self.jobs = rows, within, budget_s, jobs
        self.told = told

    def play(self, only_estimate: bool = False) -> None:
        """The pilots, what all will take, and the cells one by one; Ctrl+C ends it early."""
        self.told(
            f"{len(self.rows)} cells, each until ± {self.within:.0%} or for {self.budget_s:,.0f} s "
            f"on {self.jobs} processes: at most {self._long(len(self.rows) * self.budget_s)} "
            "after the pilots; Ctrl+C ends it with what it has."
        )
        with pool(self.jobs) as processes:
            try:
                self._pilots(processes)
                if not only_estimate:
                    for cell in self.rows:
                        self._cell(processes, cell)
                        self.told(f"{cell.name}: {cell.ended}, {cell.trees:,} trees")
            except KeyboardInterrupt:
                for cell in self.rows:
                    if cell.ended == "waiting":
                        cell.ended = "stopped"
                processes.shutdown(cancel_futures=True)

    def _pilots(self, processes: ProcessPoolExecutor) -> None:
        waiting = [
            processes.submit(pilot, cell.preset, cell.setting, PILOT_PART * self.budget_s)
            for cell in self.rows
        ]
        whole = 0.0
        for cell, one in zip(self.rows, waiting, strict=True):
            cell.effort, cell.pilot, cell.pilot_trees, cell.each_s = one.result()
            needed = self.needed(cell)
            seconds = needed * cell.each_s / self.jobs
            whole += min(seconds, self.budget_s)
            self.told(f"{cell.name}: {self._foretold(needed, seconds)}")
        self.told(f"All cells: about {self._long(whole)}.")

    def _foretold(self, needed: float, seconds: float) -> str:
        if needed == inf:
            return "no loss in the pilot; the whole budget may not meet one"
        enough = f"needs about {needed:,.0f} trees, {self._long(seconds)}"
        if seconds <= self.budget_s:
            return enough
        return f"{enough}: more than its budget, so that its interval will be wider"

    def needed(self, cell: Cell) -> float:
        """Trees that the pilot lets expect; inf where it met no loss."""
        total, squares = cell.pilot[LOST]
        if not total:
            return inf
        z = special.ndtri(1 - self._look(LOOKS_EXPECTED).alpha_of_look / 2)
        spread = cell.pilot_trees * squares / total**2
        return max(LEAST, ceil(SPARE * spread * (z / self.within) ** 2))

    def _look(self, number: int) -> Look:
        return Look(at_once=len(self.rows), growing=number)

    def _cell(self, processes: ProcessPoolExecutor, cell: Cell) -> None:
        began = clock.monotonic()
        until = began + self.budget_s
        wanted = self.needed(cell)
        if wanted == inf:
            wanted = 10 * LEAST
        while True:
            whole = self._grow(processes, cell, int(min(wanted, TREES_MOST)), until)
            cell.looks += 1
            cell.wall_s = clock.monotonic() - began
            lost = self.rates(cell)["lost"] if cell.trees else {"rate": 0, "low": 0, "high": inf}
            if is_within(lost["rate"], lost["low"], lost["high"], self.within):
                cell.ended = "known"
                return
            if not whole or clock.monotonic() > until or cell.trees >= TREES_MOST:
                cell.ended = "budget"
                return
            least, most = TIMES
            wide = max(lost["high"] - lost["rate"], lost["rate"] - lost["low"])
            times = (wide / (self.within * lost["rate"])) ** 2 if lost["rate"] else most
            wanted = ceil(cell.trees * min(most, max(least, times)))

    def _grow(self, processes: ProcessPoolExecutor, cell: Cell, wanted: int, until: float) -> bool:
        """Plays trees up to so many, in the order of their seeds; False where time ran out."""
        seconds = min(CHUNK_S, PILOT_PART * self.budget_s)
        size = max(1, min(CHUNK_MOST, int(seconds / max(cell.each_s, 1e-3))))
        asked = subject(cell.setting, advice.PRESETS[cell.preset], cell.effort)
        waiting: list[Future[tuple[list[Json], float]]] = []
        first = cell.trees + cell.failed
        last = first + wanted - cell.trees
        while first < last or waiting:
            while first < last and len(waiting) <= self.jobs and clock.monotonic() < until:
                chunk = {"scenario": asked, "profile": cell.setting.profile, "cell": 0,
                         "first_seed": first, "count": min(size, last - first)}  # fmt: skip
                waiting.append(processes.submit(grown, chunk))
                first += size
            if not waiting:
                return False
            try:
                rows, spent = waiting[0].result(max(0.0, until - clock.monotonic()))
            except TooLate:
                for one in waiting:
                    one.cancel()
                return False
            waiting.pop(0)
            cell.cpu_s += spent
            self._add(cell, rows)
        return True

    def _add(self, cell: Cell, rows: list[Json]) -> None:
        failed = sum(row["verdict"] == "error" for row in rows)
        cell.failed += failed
        cell.trees += len(rows) - failed
        for name, values in sums_of(rows).items():
            mine = cell.sums.setdefault(name, [0.0] * len(values))
            if name.startswith(HEAVIEST_OF):
                mine[0] = max(mine[0], values[0])
            else:
                mine[:] = [a + b for a, b in zip(mine, values, strict=True)]

    def rates(self, cell: Cell) -> Json:
        """As `cycles.rates`, for the last look at a cell that has trees."""
        overlaps = overlaps_by_size(cell.setting, advice.PRESETS[cell.preset])
        return cycles.rates(cell.sums, cell.trees, self._look(cell.looks), overlaps)

    def report(self) -> list[Json]:
        """Of each cell {"preset", "racks", "factor", "min_isr", "lost": {hits, rate, low, high} of
        a year, "down": seconds of a year, "formula": overlaps of a year, "trees", "cycles",
        "looks", "pilot": {trees, needed, seconds}, "cpu_s", "wall_s", "ended"}; lost and down are
        None where no tree was played."""
        return [self._told(cell) for cell in self.rows]

    def _told(self, cell: Cell) -> Json:
        found = self.rates(cell) if cell.trees else {"lost": None, "down": None, "cycles": 0}
        needed = self.needed(cell) if cell.pilot else inf
        overlaps = overlaps_by_size(cell.setting, advice.PRESETS[cell.preset])
        return {
            "preset": cell.preset,
            "racks": cell.setting.racks,
            "factor": cell.setting.factor,
            "min_isr": cell.setting.min_isr,
            "lost": found["lost"],
            "down": found["down"],
            "formula": sum(overlaps.values()),
            "trees": cell.trees,
            "failed": cell.failed,
            "cycles": found["cycles"],
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
    """(copies of each path, sums, trees, CPU-seconds a tree) of a few trees, in a process."""
    found: list[tuple[Sums, int]] = []
    began, until = clock.processor(), clock.monotonic() + seconds
    effort = cycles.pilot(
        setting,
        advice.PRESETS[preset],
        setting.profile,
        lambda sums, n: found.append((sums, n)),
        lambda: clock.monotonic() > until,
    )
    sums, trees = found[-1]
    return effort, sums, trees, (clock.processor() - began) / trees


def grown(chunk: Json) -> tuple[list[Json], float]:
    """(rows of trees, CPU-seconds), in a process."""
    began = clock.processor()
    return run_chunk(chunk), clock.processor() - began


def lines(report: Sequence[Json], within: float) -> Iterator[str]:
    """The table as text."""
    yield (
        f"{'preset':<8} {'racks':>5} {'RF':>3}  {'losses a year':>13}  {'95 %':<19}  {'formula':>8}"
        f"  {'trees':>7}  {'cycles':>9}  {'CPU-s':>7}  ended"
    )
    for one in report:
        lost = one["lost"]
        ends = f"{lost['low']:.2g} – {lost['high']:.2g}" if lost else "–"
        yield (
            f"{one['preset']:<8} {one['racks']:>5} {one['factor']:>3}"
            f"  {format(lost['rate'], '.3g') if lost else '–':>13}  {ends:<19}"
            f"  {one['formula']:>8.2g}  {one['trees']:>7,}  {one['cycles']:>9,}"
            f"  {one['cpu_s']:>7,.1f}  {one['ended']}"
        )
    yield ""
    yield (
        f"All {len(report)} intervals hold together, however often a cell was looked at. known: "
        f"within ± {within:.0%}; formula: how often all replicas are out at once, of which not "
        "each loses."
    )
