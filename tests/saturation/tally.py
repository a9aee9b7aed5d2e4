"""Saturation of a study: pairs of rules met as seeds grow, and an estimate of the unseen.

A seed is a sample, and a pair of rules (one cue after the other, as a soak counts them) is what it
may have met.  How many pairs only one seed met, and only two, estimates how many none did.

A *swarm* (Groce and others, Swarm Testing, 2012) gives each seed a part of the fault plan: kinds
that are always there together hide what one of them does alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt
from typing import Final

from engine.scenarios.scenario import Scenario
from engine.sim.kernel import Chance
from engine.sim.run import Run, play
from engine.study.budget import event_budget
from engine.study.soak import listen

Z: Final = 1.96
"""Quantile of a 95 % interval."""
CURVE: Final = (1, 2, 5)
"""Points of a curve: these times the powers of ten, and the end."""

Pair = tuple[str, str]


def fixed(scenario: Scenario, seed: int) -> Scenario:
    """Return the scenario as it is: every seed has the whole fault plan."""
    return scenario


def drawn(scenario: Scenario, seed: int) -> tuple[str, ...]:
    """Return the kinds of faults that a swarm leaves this seed, all choices as likely."""
    kinds = sorted({fault.kind for fault in scenario.faults})
    if len(kinds) < 2:
        return tuple(kinds)
    chosen = 1 + Chance(seed, "swarm").below(2 ** len(kinds) - 1)
    return tuple(kind for bit, kind in enumerate(kinds) if chosen >> bit & 1)


def swarm(scenario: Scenario, seed: int) -> Scenario:
    """Return the scenario with the faults that are drawn for this seed."""
    kept = drawn(scenario, seed)
    return replace(scenario, faults=tuple(one for one in scenario.faults if one.kind in kept))


PLANS: Final[dict[str, Callable[[Scenario, int], Scenario]]] = {"fixed": fixed, "swarm": swarm}


@dataclass
class SaturationTally:
    """Findings of the seeds of one plan.

    Of each pair the first seed and how many seeds met it; of each invariant the seeds that broke it
    first; seeds that could not be played to their end.
    """

    runs: int = 0
    pairs: dict[Pair, list[int]] = field(default_factory=dict)
    broke: dict[str, list[int]] = field(default_factory=dict)
    errors: list[tuple[int, str]] = field(default_factory=list)

    def add(self, other: SaturationTally) -> None:
        self.runs += other.runs
        for pair, (first, count) in other.pairs.items():
            mine = self.pairs.setdefault(pair, [first, 0])
            mine[0] = min(mine[0], first)
            mine[1] += count
        for name, seeds in other.broke.items():
            self.broke.setdefault(name, []).extend(seeds)
        self.errors += other.errors

    def met_by(self, exactly: int) -> int:
        """Return the number of pairs met by exactly `exactly` seeds."""
        return sum(count == exactly for _, count in self.pairs.values())


def tally(scenario: Scenario, plan: str, profile: str, seeds: Iterable[int]) -> SaturationTally:
    """Play these seeds under a plan of PLANS.  A run that fails itself is one of the errors."""
    found = SaturationTally()
    for seed in seeds:
        met: set[Pair] = set()
        found.runs += 1
        try:
            run = Run(PLANS[plan](scenario, seed), profile, seed)
            sim = run.simulation(told=True)
            sim.budget = event_budget(run)
            listen(sim, met)
            for _ in play(sim, run.lines()):
                pass
        except Exception as error:
            found.errors.append((seed, f"{type(error).__name__}: {error}"[:300]))
            continue
        for pair in met:
            found.pairs.setdefault(pair, [seed, 0])[1] += 1
        if sim.broken:
            found.broke.setdefault(sim.broken[0][0], []).append(seed)
    return found


def curve(pairs: Mapping[Pair, list[int]], first_seed: int, runs: int) -> list[tuple[int, int]]:
    """Return (seeds, distinct pairs that they met), from the first seed on."""
    firsts = sorted(first - first_seed for first, _ in pairs.values())
    points = {runs} if runs else set()
    scale = 1
    while scale <= runs:
        points.update(scale * times for times in CURVE if scale * times <= runs)
        scale *= 10
    return [(n, sum(first < n for first in firsts)) for n in sorted(points)]


@dataclass(frozen=True)
class Unseen:
    """Pairs that were not met: `least` of them, with the ends of a 95 % interval of that bound."""

    least: float
    low: float
    high: float


def unseen(runs: int, once: int, twice: int) -> Unseen:
    """Return Chao's (1987) lower bound for what is missing (Chao2), with his interval.

    With Q1 met by one seed and Q2 by two, at least (Q1^2 / 2 Q2) (m - 1) / m are missing of what
    these m seeds *could* have met.  Where some are far rarer than those met once, it is too low,
    and what no seed of this plan can reach is not in it.
    """
    if runs < 2 or not once:
        return Unseen(0.0, 0.0, 0.0)
    part = (runs - 1) / runs
    if twice:
        ratio = once / twice
        least = part * once * ratio / 2
        variance = twice * (part * ratio**2 / 2 + part**2 * ratio**3 + part**2 * ratio**4 / 4)
    else:
        least = part * once * (once - 1) / 2
        variance = part * least + part**2 * once * (2 * once - 1) ** 2 / 4
    if not least:
        return Unseen(0.0, 0.0, float(once))
    times = exp(Z * sqrt(log(1 + variance / least**2)))
    return Unseen(least, least / times, least * times)


def next_new(runs: int, once: int) -> float:
    """Return the mean number of new pairs of one more seed (Good and Turing): Q1 / m."""
    return once / runs if runs else 0.0


def more_new(runs: int, once: int, twice: int, more: int) -> float:
    """Return the new pairs of `more` seeds (Colwell and others, 2012, on Chao's bound)."""
    missing = unseen(runs, once, twice).least
    if not missing:
        return min(float(once), more * next_new(runs, once))
    return missing * (1 - (1 - once / (runs * missing + once)) ** more)
