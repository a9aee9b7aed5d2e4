"""Benchmarks as ratios of two measurements in the same place, comparable between machines."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

Figures = dict[str, float]
ROUNDS = 5
QUESTIONS = 1_000
SCALE_RUN = ("crash-storm", "K39")
"""Scenario and profile of the engine benchmark, played with a seed a round."""
SHOWN = "S20"


@dataclass(frozen=True)
class Benchmark:
    """`run` returns the ratio and the figures it is made of; some of these have a budget."""

    meaning: str
    run: Callable[[], tuple[float, Figures]]
    budgets: Callable[[], Figures] = dict


def at_least(figure: str) -> bool:
    """Check whether the budget is a minimum, as of a rate; of time, bytes and nodes it is not."""
    return figure.startswith("fps") or figure.endswith("_per_s")


def share(figure: str, value: float, budget: float) -> float:
    """Return the share of its budget that a figure uses; above 1 it fails."""
    if not budget:
        return float("inf") if value else 0.0
    return budget / value if at_least(figure) else value / budget


def measure(name: str) -> dict[str, Any]:
    benchmark = BENCHMARKS[name]
    ratio, figures = benchmark.run()
    return {
        "name": name,
        "ratio": ratio,
        "meaning": benchmark.meaning,
        "figures": figures,
        "budgets": {key: value for key, value in benchmark.budgets().items() if key in figures},
    }


def per_second(events: Callable[[int], int]) -> float:
    """Return the events of a CPU-second, the best of some rounds: other load only slows it."""
    best = 0.0
    for round_ in range(ROUNDS):
        began = time.process_time()
        count = events(round_)
        best = max(best, count / (time.process_time() - began))
    return best


def simpy_events(_round: int) -> int:
    import simpy

    many, each = 100, 1_000
    world = simpy.Environment()

    def ticking() -> Any:
        for _ in range(each):
            yield world.timeout(1)

    for _ in range(many):
        world.process(ticking())
    world.run()
    return many * each


def _engine() -> tuple[float, Figures]:
    from engine.scenarios import file
    from engine.sim.run import Run, play_all

    scenario = file.find(SCALE_RUN[0])

    def engine_events(round_: int) -> int:
        return play_all(Run(scenario, profile=SCALE_RUN[1], seed=round_)).events

    engine, simpy = per_second(engine_events), per_second(simpy_events)
    return engine / simpy, {"engine_events_per_s": engine, "simpy_timeouts_per_s": simpy}


def _socket() -> tuple[float, Figures]:
    from tests.bench.server import ServerWire, serving

    fast = {"moves_per_s": "1000000", "moves_burst": "100000"}
    with serving(**fast) as port, ServerWire(port) as wire:
        opened = wire.ask("open", {"scenario": SHOWN})
        run, total = opened["run"], opened["facts"]["total"]
        steps, bare = [], []
        for index in range(QUESTIONS):
            began = time.perf_counter()
            answer = wire.ask("play", {"run": run, "step": index % total, "count": 1})
            between = time.perf_counter()
            wire.ask("seek", {})
            steps.append((between - began) * 1_000)
            bare.append((time.perf_counter() - between) * 1_000)
            assert answer["ok"], answer
    figures = {
        "step_p50_ms": statistics.median(steps),
        "step_p99_ms": statistics.quantiles(steps, n=100)[98],
        "bare_p50_ms": statistics.median(bare),
        "bare_p99_ms": statistics.quantiles(bare, n=100)[98],
    }
    return figures["step_p99_ms"] / figures["bare_p99_ms"], figures


def elsewhere(meaning: str, module: str, function: str) -> Benchmark:
    """Return a benchmark of a module that is imported when it runs, with its `BUDGETS`, if any."""
    return Benchmark(
        meaning,
        lambda: getattr(import_module(module), function)(),
        lambda: getattr(import_module(module), "BUDGETS", {}),
    )


BENCHMARKS: dict[str, Benchmark] = {
    "engine": Benchmark("times SimPy's bare timeouts, in events per second", _engine),
    "frame": elsewhere(
        "times a frame, median from a key to the next step on the screen",
        "tests.bench.frame",
        "frame",
    ),
    "stage": elsewhere(
        "of the tightest budget: frames, drawing, nodes left, time to first view, GIF, views",
        "tests.bench.stage",
        "stage",
    ),
    "face": elsewhere(
        "of the tightest budget: what the first and second visit fetch, when the landing moves",
        "tests.bench.face",
        "face",
    ),
    "ladder": elsewhere(
        "times SimPy's bare timeouts, in states that the ladder's search generates per second",
        "tests.bench.searching",
        "ladder",
    ),
    "search": elsewhere(
        "times SimPy's bare timeouts, in states that a search from a step generates per second",
        "tests.bench.searching",
        "from_a_step",
    ),
    "copy": elsewhere(
        "of a replay of six moves, a copy of the cluster after them",
        "tests.bench.searching",
        "copies",
    ),
    "speed": elsewhere(
        "times the engine as it is written, the compiled one, in events per second",
        "tests.bench.speed",
        "speed",
    ),
    "learn": elsewhere(
        "times a play of the same run, the best question of a run, found and told",
        "tests.bench.learn",
        "learn",
    ),
    "long": elsewhere(
        "of the time until the end of a long run is known, the time until its first picture",
        "tests.bench.long",
        "long",
    ),
    "socket": Benchmark("times a question without an answer, p99 of a step's round trip", _socket),
    "attacks": elsewhere(
        "times a step without an attack, the worst p99 of an honest visitor's step under one",
        "tests.bench.attacks",
        "attacks",
    ),
    "class": elsewhere(
        "of a second, the worst p99 of a step while 200 visitors step once a second each",
        "tests.bench.crowd",
        "crowd",
    ),
    "kills": elsewhere(
        "saves and runs lost, or played twice, by servers that were killed, locked out or full",
        "tests.bench.kills",
        "kills",
    ),
    "logs": elsewhere(
        "times a log in the plain layout, the slowest other layout, in CPU-seconds a MB",
        "tests.bench.logs",
        "logs",
    ),
    "batch": elsewhere(
        "of two plain processes' runs per second, on Spark local[2]",
        "tests.bench.efficiency",
        "batch_efficiency",
    ),
}
"""Name -> benchmark; a new one is a row here."""
