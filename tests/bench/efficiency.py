"""Benchmark of Spark's overhead: the share of two processes left to the runs themselves."""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from typing import Any

from app.batch.runners.plan import BatchPlan, chunk_size
from app.batch.runners.spark import SparkRunner
from engine.scenarios import file
from engine.study.batch import run_chunk
from engine.study.metrics import METRICS

RUNS = 10_000
ROUNDS = 4
CORES = 2
SCENARIO, PROFILE = "S63", "K39"
WARM_RUNS = 100


def batch_efficiency(
    runs: int = RUNS, rounds: int = ROUNDS, scenario: str = SCENARIO
) -> tuple[float, dict[str, float]]:
    """Return the runs a second on Spark local[2] over those of two plain processes.

    Both ways take turns and use two cores each, so that whatever else the machine does slows both
    alike.  Spark's start is left out; writing the rows is not.
    """
    data = file.find(scenario).to_dict()
    each = runs // rounds
    spent = {"spark": 0.0, "plain": 0.0}
    runner = SparkRunner(f"local[{CORES}]")
    plain = [Plain(data) for _ in range(CORES)]
    try:
        with tempfile.TemporaryDirectory() as place:
            speed = WARM_RUNS / together(plain, 0, WARM_RUNS)
            on_spark(runner, f"{place}/warm", data, 0, WARM_RUNS * CORES, WARM_RUNS)
            size = chunk_size(each, 1, speed)
            for number in range(rounds):
                seed = number * each
                spent["spark"] += on_spark(runner, f"{place}/{number}", data, seed, each, size)
                spent["plain"] += together(plain, seed, each // CORES)
    finally:
        for process in plain:
            process.end()
        runner.close()
    spark = each * rounds / spent["spark"]
    one = each // CORES * rounds / spent["plain"]
    figures = {"spark_runs_per_s": spark, "one_plain_runs_per_s": one, "runs": each * rounds}
    return spark / (CORES * one), figures


def on_spark(
    runner: SparkRunner, place: str, data: dict[str, Any], seed: int, runs: int, size: int
) -> float:
    """Return the seconds for these runs on the warm session."""
    plan = BatchPlan((data,), (PROFILE,), runs, seed, size, tuple(METRICS))
    began = time.perf_counter()
    runner.run(plan, place, "bench", lambda _: None)
    return time.perf_counter() - began


class Plain:
    """Process that only plays runs: no pool, no files."""

    def __init__(self, data: dict[str, Any], profile: str = PROFILE) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_play_asked, args=(theirs, data, profile))
        self._process.start()
        theirs.close()

    def end(self) -> None:
        self.pipe.close()
        self._process.join(60)


def together(plain: list[Plain], seed: int, runs: int) -> float:
    """Return the mean seconds of processes that each play `runs` seeds at the same time."""
    for number, process in enumerate(plain):
        process.pipe.send((seed + number * runs, runs))
    return statistics.fmean(process.pipe.recv() for process in plain)


def _play_asked(asked: Connection, data: dict[str, Any], profile: str) -> None:
    while True:
        try:
            seed, runs = asked.recv()
        except EOFError:
            return
        began = time.perf_counter()
        run_chunk(
            {"scenario": data, "profile": profile, "cell": 0, "first_seed": seed, "count": runs}
        )
        asked.send(time.perf_counter() - began)
