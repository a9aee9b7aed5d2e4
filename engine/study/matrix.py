"""Verdict of each scenario under each profile, as played now and as expected."""

from __future__ import annotations

from collections.abc import Iterable

from engine.catalogue import promises
from engine.model.declared import declared
from engine.model.profiles import PROFILES, get_profile
from engine.scenarios.expectations import in_order
from engine.scenarios.scenario import Scenario

STATISTICAL = "by chance"


@declared
class MatrixCell:
    """Cell of the table: the `broken` invariants, in order, and the unmet expectations."""

    broken: tuple[str, ...]
    complaints: tuple[str, ...]
    statistical: bool

    def text(self) -> str:
        """Return the text in the table; `!` marks an unmet expectation."""
        told = STATISTICAL if self.statistical else " ".join(self.broken) or "holds"
        return f"{told} !" if self.complaints else told


def cell(scenario: Scenario, profile: str) -> MatrixCell:
    """Play the scenario under one profile; a scenario for scale is not judged by one seed."""
    promise = scenario.expectation(profile)
    played = promises.play(scenario, profile)
    return MatrixCell(
        tuple(in_order(name for name, _, _ in played.sim.broken)),
        tuple(played.complaints),
        promise is not None and promise["verdict"] == "statistical",
    )


def by_age(profiles: Iterable[str]) -> list[str]:
    """Sort profiles by age; one with a flipped flag follows its original."""
    rows = list(PROFILES)
    return sorted(profiles, key=lambda name: (rows.index(get_profile(name).base), name))


def matrix(scenarios: Iterable[Scenario]) -> dict[str, dict[str, MatrixCell]]:
    """Return slug -> profile -> cell, for every profile of a scenario, oldest first."""
    return {
        scenario.slug: {profile: cell(scenario, profile) for profile in by_age(scenario.profiles)}
        for scenario in scenarios
    }
