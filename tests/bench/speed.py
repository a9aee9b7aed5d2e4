"""Benchmark of the engine in one table: in Python, and compiled if available.

``python -m tests.bench.speed`` measures the engine that it imports and prints JSON; the
benchmark asks two such processes, one of them with HIGHWATER_PURE.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import Final

from app.core import compiled_engine
from app.core.config import ROOT
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study.digest import is_compiled
from engine.study.wander import advance
from tests.bench.ratios import ROUNDS, SCALE_RUN, per_second, simpy_events
from tests.bench.searching import copied_us, ladder, moved, searched_per_s

PARTITIONS: Final = (1, 20, 50, 200, 1_000)
RECORDS: Final = 25_000
BATCH: Final = 50
"""Records a move: a line has room for no more."""
STEPS: Final = 40
STARTS: Final = 3
SHOWN: Final = "S20"
LONG: Final = "S61"

BUDGETS: Final = {
    "written_copy_s20_us": 60.0,
    "written_ladder_per_s": 100_000.0,
    "written_handlers_per_s": 2_500.0,
    "written_start_ms": 300.0,
    "written_virtual_per_real": 10_000.0,
    "compiled_handlers_per_s": 10_000.0,
    "written_event_200_ratio": 1.5,
    "compiled_event_200_ratio": 1.5,
    "written_step_25000_ms": 3.0,
    "written_step_30_brokers_ms": 5.0,
}
"""On one core of a small server."""


def speed() -> tuple[float, dict[str, float]]:
    """Return the events of the compiled engine over those of the Python one; and the table.

    Without a compiled engine (`python3 -m app compile` builds one) only the written one is
    measured, and the ratio is 1.
    """
    engines = {"written": measured(pure=True), "compiled": measured(pure=False)}
    if not engines["compiled"].pop("is_compiled"):
        del engines["compiled"]
    engines["written"].pop("is_compiled")
    figures = {"load": os.getloadavg()[0]}
    for name, of_it in engines.items():
        figures |= {f"{name}_{figure}": value for figure, value in of_it.items()}
    ratios = [of_it["events_per_timeout"] for of_it in engines.values()]
    return ratios[-1] / ratios[0], figures


def measured(pure: bool) -> dict[str, float]:
    """Return the figures of the engine, measured in another process."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HIGHWATER_PURE": "1" if pure else ""}
    if not pure and (built := compiled_engine.built()) is not None:
        env[compiled_engine.VARIABLE] = str(built)
    command = [sys.executable, "-m", "tests.bench.speed"]
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    told: dict[str, float] = json.loads(done.stdout)
    return told


def figures() -> dict[str, float]:
    """Return the figures of the engine in this process, in CPU time."""
    scenario = file.find(SCALE_RUN[0])

    def events(round_: int) -> int:
        return play_all(Run(scenario, SCALE_RUN[1], round_)).events

    engine, simpy = per_second(events), per_second(simpy_events)
    found = {
        "is_compiled": float(is_compiled()),
        "events_per_s": engine,
        "events_per_timeout": engine / simpy,
        "copy_s20_us": copied_us(moved(), Simulation.copy),
        "branch_s20_us": copied_us(moved(), Simulation.branch),
        "copy_s61_us": copied_us(play_all(Run(file.find(LONG), "K39")), Simulation.copy),
        "ladder_per_s": ladder()[1]["generated_per_s"],
        "handlers_per_s": searched_per_s(),
    }
    for count in PARTITIONS:
        found[f"event_{count}_us"] = event_us(cluster(3, count))
    for count in PARTITIONS[1:]:
        found[f"event_{count}_ratio"] = found[f"event_{count}_us"] / found["event_1_us"]
    large = cluster(30, 1_000)
    found["event_30_brokers_us"] = event_us(large)
    found["step_30_brokers_ms"] = _step_ms(Replay(Run(large, "K39", 0, ("run 2s",))))
    found["build_30_brokers_ms"] = 1e3 / per_second(lambda _: bool(Simulation(large, "K39")))
    return {**found, **_of_many_records(), **_of_long_runs(), "start_ms": start_ms()}


def cluster(brokers: int, partitions: int) -> Scenario:
    """Return a scenario with these brokers and partitions, one of which is written to.

    Broker 1 leads all of them where there are three brokers, else they lead in turn.
    """
    data = {
        "title": "many partitions",
        "brokers": brokers,
        "fetching": "auto",
        "workload": {"producers": [{"rate_per_s": 50, "partition": 0}]},
    }
    ids = range(1, brokers + 1)
    turns = [ids[at % (brokers - 2) : at % (brokers - 2) + 3] for at in range(partitions)]
    return replace(Scenario.from_dict(data), partitions=tuple(map(tuple, turns)))


def event_us(scenario: Scenario) -> float:
    """Return the time of an event while the clock runs."""
    ready = [Run(scenario, "K39", round_).simulation() for round_ in range(ROUNDS)]

    def events(round_: int) -> int:
        ready[round_].rush = True
        advance(ready[round_], "run 5s")
        return ready[round_].events

    return 1e6 / per_second(events)


def _of_many_records() -> dict[str, float]:
    """Return the times of a copy, and of a step with its view, of a run with many records."""
    lines = tuple(
        "produce " + " ".join(f"r{first + number}" for number in range(BATCH))
        for first in range(0, RECORDS, BATCH)
    )
    run = Run(file.find(SHOWN), "K39", 0, (*lines, "settle"))
    sim = play_all(run)
    copy_us = copied_us(sim, Simulation.copy)
    return {"copy_25000_us": copy_us, "step_25000_ms": _step_ms(Replay(run))}


def _step_ms(replay: Replay) -> float:
    """Return the time of a step with its view, one after the other near the end of a run."""

    def steps(round_: int) -> int:
        for number in range(STEPS):  # each is asked for once: they are kept
            replay.steps(replay.total - (round_ + 1) * STEPS + number, 1)
        return STEPS

    return 1e3 / per_second(steps)


def _of_long_runs() -> dict[str, float]:
    run = Run(file.find(LONG), "K39")

    def virtual(round_: int) -> int:
        return play_all(Run(run.scenario, run.profile, round_)).now

    return {"virtual_per_real": per_second(virtual) / 1_000}


def start_ms() -> float:
    """Return the CPU time of `highwater run S20`, from start to end, the best of some.

    Its modules are compiled by then, as pip leaves what it installs.
    """
    return min(_cpu_ms([sys.executable, "-m", "app", "run", SHOWN]) for _ in range(STARTS))


def _cpu_ms(command: list[str]) -> float:
    own = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True, env=own)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used * 1_000


if __name__ == "__main__":
    print(json.dumps(figures()))
