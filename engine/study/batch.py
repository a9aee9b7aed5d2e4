"""Many runs of one scenario: the same function on every executor, in every process, on any day.

A row is a function of (scenario, profile, cell, seed).  Live state never leaves this module.
"""

from __future__ import annotations

from typing import Any, Final

from engine.model.errors import BadInput
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation
from engine.study.metrics import METRICS, Played

EVENT_BUDGET: Final = 500_000
"""Events of one run; beyond that it has run away, and its row says so."""
WHY_MOST: Final = 300

HOLDS: Final = "holds"
VIOLATES: Final = "violates"
ERROR: Final = "error"

Row = dict[str, Any]


def run_chunk(chunk: dict[str, Any]) -> list[Row]:
    """Plays `count` seeds from `first_seed` on and returns a row for each.

    chunk: {"scenario": Scenario.to_dict(), "profile", "cell", "first_seed", "count"}
    row: {"cell", "profile", "seed", "verdict": "holds" | "violates" | "error",
          "invariant", "step", "why": of the first violation ("", -1, "" if none),
          "broken": [[invariant, step, why], ...] each invariant once, "events",
          <metric>: int | None}
    A run that fails is a row with the verdict "error" and the reason as its why.
    """
    scenario = Scenario.from_dict(chunk["scenario"])
    first = chunk["first_seed"]
    return [
        play_row(scenario, chunk["profile"], chunk["cell"], seed)
        for seed in range(first, first + chunk["count"])
    ]


def play_row(scenario: Scenario, profile: str, cell: int, seed: int) -> Row:
    """One run as a row."""
    row: Row = {
        "cell": cell,
        "profile": profile,
        "seed": seed,
        "verdict": ERROR,
        "invariant": "",
        "step": -1,
        "why": "",
        "broken": [],
        "events": 0,
        **dict.fromkeys(METRICS),
    }
    sim: Simulation | None = None
    try:
        run = Run(scenario, profile, seed)
        sim = run.simulation()
        _play(sim, run)
        played = Played(sim)
        row.update((name, metric.of(played)) for name, metric in METRICS.items())
        broken = _first_of_each(sim.broken)
        row["broken"] = broken
        row["verdict"] = VIOLATES if broken else HOLDS
        if broken:
            row["invariant"], row["step"], row["why"] = broken[0]
    except BadInput as error:
        row["why"] = str(error)[:WHY_MOST]
    except Exception as error:
        row["why"] = f"{type(error).__name__}: {error}"[:WHY_MOST]
    if sim is not None:
        row["events"] = sim.events
    return row


def _play(sim: Simulation, run: Run) -> None:
    sim.rush = True
    sim.budget = EVENT_BUDGET
    for _ in play(sim, run.lines()):
        pass
    sim.ledger.close(sim.now)


def _first_of_each(broken: list[tuple[str, int, str]]) -> list[list[Any]]:
    """Each invariant where it broke first, in that order."""
    seen: dict[str, list[Any]] = {}
    for invariant, step, why in broken:
        seen.setdefault(invariant, [invariant, step, why[:WHY_MOST]])
    return list(seen.values())
