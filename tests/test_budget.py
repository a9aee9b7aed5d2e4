"""How many events a run may have, and what the beginning of a run tells of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study import budget
from engine.study.batch import run_chunk
from engine.study.budget import EVENTS_LEAST, EVENTS_MOST, event_budget, planned_ms


def of(duration: Any, brokers: int = 3, script: str = "run") -> Scenario:
    """Three brokers that fetch by default, and a record a second."""
    return Scenario.from_dict(
        {
            "title": "Long",
            "brokers": brokers,
            "fetching": "auto",
            "workload": {"producers": [{"rate_per_s": 1}]},
            "duration_ms": duration,
            "script": script,
        }
    )


def chunk(scenario: Scenario, **more: Any) -> dict[str, Any]:
    return {
        "scenario": scenario.to_dict(), "profile": "K39", "cell": 0, "first_seed": 0, "count": 1,
        **more,
    }  # fmt: skip


def test_a_budget_grows_with_virtual_time_and_brokers_up_to_a_bound() -> None:
    assert event_budget(Run(of("1m"))) == EVENTS_LEAST
    assert event_budget(Run(of("2h"))) == 2 * 3600 * 3 * budget.EVENTS_PER_BROKER_S
    assert event_budget(Run(of("2h", 5))) == 2 * 3600 * 5 * budget.EVENTS_PER_BROKER_S
    assert event_budget(Run(of("5d", 40))) == EVENTS_MOST


def test_the_time_of_a_run_is_what_its_moves_ask_for() -> None:
    assert planned_ms(Run(of("1m"))) == 60_000
    assert planned_ms(Run(of("1m", script="run 2h\nadvance 5s\nat 3h\nrun"))) == 10_860_000
    assert planned_ms(Run(of("1m", script="at 5s\nat 3s"))) == 5_000
    assert planned_ms(Run(of("1m"), "K39", 0, ("run", "fly", "run"))) == 60_000


def test_a_long_run_ends_well_and_a_runaway_as_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "EVENTS_LEAST", 1_000)
    row = run_chunk(chunk(of("5m")))[0]
    assert row["events"] > 1_000
    assert row["verdict"] == "holds"
    monkeypatch.setattr(budget, "EVENTS_MOST", 1_000)
    row = run_chunk(chunk(of("5m")))[0]
    assert (row["verdict"], row["events"]) == ("error", 1_001)
    assert row["why"] == "The run passed 1000 events."


def test_the_beginning_of_a_run_tells_of_the_rest() -> None:
    whole = run_chunk(chunk(of("10m")))[0]
    assert "whole" not in whole
    begun = run_chunk(chunk(of("10m"), probe=1_000))[0]
    assert begun["events"] == 1_001
    assert begun["whole"] == pytest.approx(whole["events"], rel=0.2)
    assert begun["most"] == event_budget(Run(of("10m")))
    enough = run_chunk(chunk(of("10m"), probe=10**6))[0]
    assert enough == {**whole, "whole": whole["events"], "most": begun["most"]}
    week = run_chunk(chunk(of("5d", 40), probe=20_000))[0]
    assert week["whole"] > week["most"] == EVENTS_MOST
