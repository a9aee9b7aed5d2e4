"""The short runs that tests of single rules begin with."""

from __future__ import annotations

from typing import Any, Final

from engine.model.quorum import Quorum
from engine.model.state import FetcherThread
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation

THREE: Final = Scenario.from_dict({"title": "x", "brokers": 3, "partitions": [[1, 2, 3], [3]]})


def cluster(**data: Any) -> Scenario:
    """Two brokers, unless `data` says otherwise."""
    return Scenario.from_dict({"title": "x", "brokers": 2, **data})


def played(scenario: Scenario, profile: str, *lines: str) -> Simulation:
    """The cluster after these moves; several may stand in a line, with semicolons between."""
    sim = Run(scenario, profile).simulation()
    go_on(sim, *lines)
    return sim


def two_played(profile: str, *lines: str, **data: Any) -> Simulation:
    """The same of two brokers."""
    return played(cluster(**data), profile, *lines)


def go_on(sim: Simulation, *lines: str) -> None:
    run_to_end(sim, tuple(move.strip() for line in lines for move in line.split(";")))


def quorum_of(sim: Simulation) -> Quorum:
    assert sim.cluster.quorum is not None
    return sim.cluster.quorum


def thread_of(sim: Simulation, broker: int) -> FetcherThread:
    """The only fetcher thread of a broker."""
    (thread,) = sim.brokers[broker].running.fetchers.values()
    return thread
