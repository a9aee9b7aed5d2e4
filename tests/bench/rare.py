"""Benchmark of splitting: trees of cycles against windows with plain importance factors.

Machines fail and two replicas are in two racks, so that a loss needs two failures that overlap; in
windows every kind of failure is made to strike as often, however rarely it does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import exp
from typing import Final, NamedTuple

from app.batch.cycles import PILOT_SEED, PILOT_TREES
from app.core import clock
from engine.advisor.advice import YEAR_MS, Failures, Setting
from engine.advisor.closed_form import overlaps_per_year
from engine.advisor.cycles import Tree, best_effort, causes, quiet
from engine.advisor.weights import NANO
from engine.scenarios.scenario import Scenario
from engine.study.batch import run_chunk

SETTING: Final = Setting("K39", 3, 2, 1, racks=2)
FAILURES: Final = Failures(process_days=3_650, machine_days=30, rack_days=3_650, disk_days=3_650)
STRIKES: Final = 0.4
"""How often each kind of failure strikes in a window, on average."""
WINDOW_MS: Final = 4 * 3_600_000
"""Four repairs: what its end cuts off makes the answer of windows a quarter too low."""
TREES_S: Final = 20.0
WINDOWS_S: Final = 120.0
"""CPU-seconds of each: few windows lose in a way that counts."""


class Estimate(NamedTuple):
    """Yearly losses seed by seed, and the CPU-seconds of all."""

    values: list[float]
    cpu_s: float

    @property
    def rate(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def hits(self) -> int:
        return sum(one > 0 for one in self.values)

    def price(self, rate: float) -> float:
        """Return the CPU-seconds until its relative standard deviation is 1, at this rate."""
        spread = sum((one - rate) ** 2 for one in self.values) / len(self.values)
        return spread / rate**2 * self.cpu_s / len(self.values)


def splitting() -> tuple[float, dict[str, float]]:
    """Return the CPU-seconds of windows over those of trees, for the same relative error.

    The trees' rate is taken for the true one in both prices.  The windows' price is too low as long
    as few of them have a loss, since what they miss is heavy: the ratio is the least that is so.
    """
    pilot = [Tree(SETTING, FAILURES, SETTING.profile, PILOT_SEED + n) for n in range(PILOT_TREES)]
    effort = best_effort(pilot)
    trees = _until(
        lambda seed: Tree(SETTING, FAILURES, SETTING.profile, seed, effort).lost * YEAR_MS, TREES_S
    )
    scenario = windows()
    plain = _until(lambda seed: _window(scenario, seed), WINDOWS_S)
    rate = trees.rate
    ratio = plain.price(rate) / trees.price(rate)
    figures = {"load": os.getloadavg()[0], "formula_a_year": overlaps_per_year(SETTING, FAILURES)}
    for name, one in (("trees", trees), ("windows", plain)):
        figures[name] = len(one.values)
        figures[f"{name}_cpu_s"] = one.cpu_s
        figures[f"{name}_with_a_loss"] = one.hits
        figures[f"{name}_a_year"] = one.rate
        figures[f"{name}_price_cpu_s"] = one.price(rate)
    return ratio, figures


def _until(play: Callable[[int], float], seconds: float) -> Estimate:
    values: list[float] = []
    began = clock.processor()
    while not values or clock.processor() < began + seconds:
        values.append(play(len(values)))
    return Estimate(values, clock.processor() - began)


def windows() -> Scenario:
    """Return the setting for a window, each kind of failure with its importance factor."""
    data = quiet(SETTING, FAILURES).to_dict()
    data["faults"] = [
        {
            "kind": cause.kind,
            "brokers": list(group),
            **({"together": True} if len(group) > 1 else {}),
            "mtbf_ms": round(1 / cause.rate),
            "mttr_ms": cause.mttr_ms,
            "importance": STRIKES / len(cause.targets) / (cause.rate * WINDOW_MS),
        }
        for cause in causes(SETTING, FAILURES)
        for group in cause.targets
    ]
    data["duration_ms"] = WINDOW_MS
    return Scenario.from_dict(data)


def _window(scenario: Scenario, seed: int) -> float:
    asked = {"scenario": scenario.to_dict(), "profile": SETTING.profile, "cell": 0,
             "first_seed": seed, "count": 1}  # fmt: skip
    row = run_chunk(asked)[0]
    lost = row["acked_lost"] > 0
    return exp(row["log_weight"] / NANO) * YEAR_MS / WINDOW_MS if lost else 0.0
