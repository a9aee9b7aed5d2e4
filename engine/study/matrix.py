"""Scenario x profile -> verdict, as played now and as promised."""

from __future__ import annotations

from collections.abc import Iterable

from engine.model.profiles import PROFILES
from engine.scenarios.expectations import INVARIANTS
from engine.scenarios.scenario import Scenario
from engine.study import promises

STATISTICAL = "by chance"


class Cell:
    """`broken` are the invariants that broke, in order; `complaints` the promises not kept."""

    __slots__ = ("broken", "complaints", "statistical")

    def __init__(
        self, broken: tuple[str, ...], complaints: tuple[str, ...], statistical: bool
    ) -> None:
        self.broken = broken
        self.complaints = complaints
        self.statistical = statistical

    def text(self) -> str:
        """What stands in the table; `!` marks a promise that was not kept."""
        told = STATISTICAL if self.statistical else " ".join(self.broken) or "holds"
        return f"{told} !" if self.complaints else told


def cell(scenario: Scenario, profile: str) -> Cell:
    """Plays the scenario under one profile.  A scenario for scale is a matter of many seeds."""
    promise = scenario.expectation(profile)
    played = promises.play(scenario, profile)
    seen = {name for name, _, _ in played.sim.broken}
    return Cell(
        tuple(name for name in INVARIANTS if name in seen),
        tuple(played.complaints),
        promise is not None and promise["verdict"] == "statistical",
    )


def matrix(scenarios: Iterable[Scenario]) -> dict[str, dict[str, Cell]]:
    """Slug -> profile -> cell, for every profile that a scenario names, oldest profile first."""
    order = list(PROFILES)
    return {
        scenario.slug: {
            profile: cell(scenario, profile)
            for profile in sorted(scenario.profiles, key=lambda name: order.index(name))
        }
        for scenario in scenarios
    }
