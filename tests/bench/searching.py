"""Benchmark of exhaustive searches and of the copies they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.core.gc_settings import no_collector
from engine.explore.budgets import Budgets
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import search
from engine.ladder import questions
from engine.scenarios import file
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from tests.bench.ratios import per_second, simpy_events

LADDER: Final = "kip320"
SIZE: Final = {"replicas": 3, "log": 2, "records": 2, "epochs": 1}

MOVED: Final = ("S20", "K39")
"""Scenario and profile of the cluster that is copied after the first MOVES of its moves."""
MOVES: Final = 6
TIMES: Final = 200
SPENT: Final = Budgets(crashes=2, writes=1)

BUDGETS: Final = {"generated_per_s": 100_000.0, "copy_us": 200.0, "searched_per_s": 1_000.0}
"""On one core of a small server."""


def ladder() -> tuple[float, dict[str, float]]:
    """Return the states that a search generates in a CPU-second, all invariants checked."""

    def generated(_round: int) -> int:
        outcome = questions.search(questions.model(LADDER, SIZE))
        assert outcome.complete
        return outcome.progress.generated

    states, simpy = per_second(generated), per_second(simpy_events)
    return states / simpy, {"generated_per_s": states, "simpy_timeouts_per_s": simpy}


def from_a_step() -> tuple[float, dict[str, float]]:
    """Return the states of the real engine that a search generates in a CPU-second."""
    states, simpy = searched_per_s(), per_second(simpy_events)
    return states / simpy, {"searched_per_s": states, "simpy_timeouts_per_s": simpy}


def searched_per_s() -> float:
    run = Run(file.find(MOVED[0]), MOVED[1])
    question = SearchQuestion(cut_at(Run(run.scenario, run.profile, 0, run.lines()[:3])), SPENT)

    def generated(_round: int) -> int:
        with no_collector():
            outcome = search(question)
        assert outcome.complete
        return outcome.progress.generated

    return per_second(generated)


def moved() -> Simulation:
    """Return the cluster that is copied."""
    run = Run(file.find(MOVED[0]), MOVED[1])
    sim = run.simulation()
    run_to_end(sim, run.lines()[:MOVES])
    return sim


def copied_us(sim: Simulation, copy: Callable[[Simulation], object] = Simulation.copy) -> float:
    """Return the CPU time of one copy, or of what is made instead."""

    def copied(_round: int) -> int:
        for _ in range(TIMES):
            copy(sim)
        return TIMES

    return 1e6 / per_second(copied)


def copies() -> tuple[float, dict[str, float]]:
    """Return the CPU time of a copy over that of playing to the same place from the start."""

    def again(_round: int) -> int:
        for _ in range(TIMES):
            moved()
        return TIMES

    copy_us, replay_us = copied_us(moved()), 1e6 / per_second(again)
    return copy_us / replay_us, {"copy_us": copy_us, "replay_us": replay_us}
