"""Saturation of a study: chunks of seeds under both plans in a few processes, and the curve.

The engine counts pairs (tally.py); processor time is measured here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Final, NamedTuple

from app.batch.processes import pool
from app.core import clock
from engine.model.json_types import Json
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from tests.saturation import tally
from tests.saturation.tally import PLANS, SaturationTally

CHUNK: Final = 50
PROBE: Final = 10
"""Seeds from which the time of all is estimated."""
TOLD_S: Final = 10.0
AHEAD: Final = 4
"""Chunks that wait for each process."""
SHOWN: Final = 3


class PlayedStudy(NamedTuple):
    """Result of a chunk: the pairs met under each plan, and CPU-seconds."""

    tallies: dict[str, SaturationTally]
    seconds: dict[str, float]


def play(stored: Json, profile: str, first: int, count: int) -> PlayedStudy:
    """Play `count` seeds under each plan, by turns: both have the same machine."""
    scenario = Scenario.from_dict(stored)
    found = PlayedStudy({name: SaturationTally() for name in PLANS}, dict.fromkeys(PLANS, 0.0))
    for seed in range(first, first + count):
        for name in PLANS:
            began = clock.processor()
            found.tallies[name].add(tally.tally(scenario, name, profile, (seed,)))
            found.seconds[name] += clock.processor() - began
    return found


class SaturationStudy:
    """Results of all finished chunks, in the order of their seeds: it may end after any of them."""

    def __init__(self, scenario: Scenario, profile: str, first: int, seeds: int) -> None:
        self.scenario, self.profile = scenario, profile
        self.first, self.seeds = first, seeds
        self.tallies = {name: SaturationTally() for name in PLANS}
        self.seconds = dict.fromkeys(PLANS, 0.0)
        self.half: dict[str, tuple[int, int, int, int]] = {}

    def add(self, chunk: PlayedStudy) -> None:
        for name in PLANS:
            self.tallies[name].add(chunk.tallies[name])
            self.seconds[name] += chunk.seconds[name]
        runs = self.tallies["fixed"].runs
        if not self.half and 2 * runs >= self.seeds:
            self.half = {
                name: (one.runs, one.met_by(1), one.met_by(2), len(one.pairs))
                for name, one in self.tallies.items()
            }

    def report(self) -> Json:
        """Return {"seeds", "first", "whole", "plans": {name: ...}}; see `_plan`."""
        return {
            "seeds": self.tallies["fixed"].runs,
            "first": self.first,
            "whole": self.tallies["fixed"].runs == self.seeds,
            "plans": {name: self._plan(name) for name in PLANS},
            "faults": self._faults(),
        }

    def _faults(self) -> Json:
        """Return for each kind of fault the runs of the swarm with it and without it.

        {kind: {"with": [runs, broke], "without": [runs, broke]}}, where `broke` counts those that
        broke something.
        """
        mine = self.tallies["swarm"]
        broke = {seed for seeds in mine.broke.values() for seed in seeds}
        found = {
            kind: {"with": [0, 0], "without": [0, 0]}
            for kind in sorted({fault.kind for fault in self.scenario.faults})
        }
        for seed in range(self.first, self.first + mine.runs):
            drawn = tally.drawn(self.scenario, seed)
            for kind, counts in found.items():
                count = counts["with" if kind in drawn else "without"]
                count[0] += 1
                count[1] += seed in broke
        return found

    def _plan(self, name: str) -> Json:
        """Return the results of one plan.

        Pairs, the curve, what is unseen, what as many seeds more would bring, what the first half
        foretold of the second, pairs at equal cost, and what broke.
        """
        mine, seconds = self.tallies[name], self.seconds[name]
        others = set[tally.Pair]().union(
            *(one.pairs for other, one in self.tallies.items() if other != name)
        )
        once, twice = mine.met_by(1), mine.met_by(2)
        cheapest = min(self.seconds.values())
        fit = round(mine.runs * cheapest / seconds) if seconds else mine.runs
        broken = sum(map(len, mine.broke.values()))
        failing = {
            invariant: {
                "runs": len(seeds),
                "seeds": sorted(seeds)[:SHOWN],
                "run": Run(PLANS[name](self.scenario, min(seeds)), self.profile, min(seeds)).text(),
            }
            for invariant, seeds in sorted(mine.broke.items())
        }
        return {
            "runs": mine.runs,
            "cpu_s": round(seconds, 2),
            "pairs": len(mine.pairs),
            "only_here": len(mine.pairs.keys() - others),
            "once": once,
            "twice": twice,
            "next": tally.next_new(mine.runs, once),
            "unseen": vars(tally.unseen(mine.runs, once, twice)).copy(),
            "as_many_more": tally.more_new(mine.runs, once, twice, mine.runs),
            "half": self._foretold(name),
            "curve": tally.curve(mine.pairs, self.first, mine.runs),
            "at_equal_cost": {
                "cpu_s": round(cheapest, 2),
                "runs": fit,
                "pairs": sum(at < self.first + fit for at, _ in mine.pairs.values()),
                "broken": sum(at < self.first + fit for one in mine.broke.values() for at in one),
            },
            "broken": broken,
            "broken_per_cpu_s": broken / seconds if seconds else 0.0,
            "invariants": failing,
            "errors": [{"seed": seed, "why": why} for seed, why in mine.errors[:SHOWN]],
            "failed": len(mine.errors),
        }

    def _foretold(self, name: str) -> Json | None:
        """Return the new pairs predicted by the first half of the seeds, and those seen.

        They are predicted for the rest of the seeds.
        """
        if name not in self.half:
            return None
        runs, once, twice, pairs = self.half[name]
        mine = self.tallies[name]
        return {
            "seeds": runs,
            "expected": tally.more_new(runs, once, twice, mine.runs - runs),
            "brought": len(mine.pairs) - pairs,
        }


def study(
    scenario: Scenario,
    profile: str,
    first: int,
    seeds: int,
    jobs: int,
    told: Callable[[str], None],
) -> Json:
    """Play these seeds under each plan.  Ctrl+C ends it with what the first seeds met."""
    stored = scenario.to_dict()
    probe = play(stored, profile, first, min(PROBE, seeds))
    each = sum(probe.seconds.values()) / min(PROBE, seeds)
    told(
        f"{seeds:,} seeds under each of {len(PLANS)} plans: about {seeds * each / jobs:,.0f} s "
        f"on {jobs} processes; Ctrl+C ends it with what it has."
    )
    found = SaturationStudy(scenario, profile, first, seeds)
    began = said = clock.monotonic()
    with pool(jobs) as processes:
        try:
            for chunk in _in_order(processes, stored, profile, first, seeds, jobs):
                found.add(chunk)
                if clock.monotonic() > said + TOLD_S:
                    said = clock.monotonic()
                    told(_progress(found, said - began))
        except KeyboardInterrupt:
            processes.shutdown(cancel_futures=True)
    return found.report()


def _in_order(
    processes: ProcessPoolExecutor, stored: Json, profile: str, first: int, seeds: int, jobs: int
) -> Iterator[PlayedStudy]:
    """Yield chunks by their seeds, a few of them ahead."""
    waiting: list[Future[PlayedStudy]] = []
    for at in range(0, seeds, CHUNK):
        count = min(CHUNK, seeds - at)
        waiting.append(processes.submit(play, stored, profile, first + at, count))
        if len(waiting) > AHEAD * jobs:
            yield waiting.pop(0).result()
    for one in waiting:
        yield one.result()


def _progress(found: SaturationStudy, seconds: float) -> str:
    pairs = ", ".join(f"{name} {len(one.pairs):,}" for name, one in found.tallies.items())
    return f"{seconds:,.0f} s: {found.tallies['fixed'].runs:,} seeds, pairs of rules: {pairs}"
