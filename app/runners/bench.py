"""How much of two processes Spark leaves to the runs themselves."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from typing import Any

from app.runners.plan import Plan, chunk_size
from app.runners.spark import SparkRunner
from engine.scenarios import file
from engine.study.batch import run_chunk
from engine.study.metrics import METRICS

RUNS = 10_000
ROUNDS = 10
CORES = 2
SCENARIO, PROFILE = "S63", "K39"
WARM_RUNS = 100


def batch_efficiency(
    runs: int = RUNS, rounds: int = ROUNDS, scenario: str = SCENARIO
) -> tuple[float, dict[str, float]]:
    """Runs a second on Spark local[2] over twice those of one plain process.

    Both take turns, so that whatever else the machine does slows both; Spark's start is left out,
    writing the rows is not.
    """
    data = file.find(scenario).to_dict()
    each = runs // rounds
    spent = {"spark": 0.0, "plain": 0.0}
    runner = SparkRunner(f"local[{CORES}]")
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(target=_plain, args=(theirs, data))
    child.start()
    try:
        with tempfile.TemporaryDirectory() as place:
            speed = WARM_RUNS / _ask(ours, 0, WARM_RUNS)
            _on_spark(runner, f"{place}/warm", data, 0, WARM_RUNS * CORES, WARM_RUNS)
            size = chunk_size(each, 1, speed)
            for number in range(rounds):
                seed = number * each
                spent["spark"] += _on_spark(runner, f"{place}/{number}", data, seed, each, size)
                # Half as many take one process about as long.
                spent["plain"] += _ask(ours, seed, each // CORES)
    finally:
        ours.close()
        child.join(60)
        runner.close()
    on_spark = each * rounds / spent["spark"]
    plain = each // CORES * rounds / spent["plain"]
    figures = {"spark_runs_per_s": on_spark, "plain_runs_per_s": plain, "runs": each * rounds}
    return on_spark / (CORES * plain), figures


def _on_spark(
    runner: SparkRunner, place: str, data: dict[str, Any], seed: int, runs: int, size: int
) -> float:
    plan = Plan((data,), (PROFILE,), runs, seed, size, tuple(METRICS))
    began = time.perf_counter()
    runner.run(plan, place, "bench", lambda _: None)
    return time.perf_counter() - began


def _ask(plain: Connection, seed: int, runs: int) -> float:
    plain.send((seed, runs))
    return float(plain.recv())


def _plain(asked: Connection, data: dict[str, Any]) -> None:
    """The plain process: plays what it is asked and tells the seconds it took."""
    while True:
        try:
            seed, runs = asked.recv()
        except EOFError:
            return
        began = time.perf_counter()
        run_chunk(
            {"scenario": data, "profile": PROFILE, "cell": 0, "first_seed": seed, "count": runs}
        )
        asked.send(time.perf_counter() - began)
