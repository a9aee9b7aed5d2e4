"""Benchmark of a small batch once Spark is warm, started as a person starts one."""

from __future__ import annotations

import tempfile
import time
from typing import Final

from app import create_app
from app.batch.jobs import Jobs
from app.batch.spec import make_spec
from app.core.config import load
from app.server.services import KEY
from engine.scenarios import file
from tests.bench.efficiency import Plain, together

SCENARIO: Final = "S66"
PROFILE: Final = "K39"
RUNS: Final = 1_000
CORES: Final = 2
WARM: Final = 2
ROUNDS: Final = 4

BUDGETS: Final = {"fixed_s": 2.0}


def warm_batch() -> tuple[float, dict[str, float]]:
    """Return the seconds of a batch over those of two plain processes with the same runs, in turns.

    From being submitted to its result in the database: probing, playing, counting, tracing.
    `fixed_s` is the difference in the best round.
    """
    scenario = file.find(SCENARIO)
    with tempfile.TemporaryDirectory() as place:
        app = create_app(load({}, instance=place, spark_master=f"local[{CORES}]"))
        jobs: Jobs = app.extensions[KEY].jobs
        plain = [Plain(scenario.to_dict(), PROFILE) for _ in range(CORES)]
        walls, bare = [], []
        try:
            for number in range(WARM + ROUNDS):
                seed = number * RUNS
                began = time.perf_counter()
                jobs.wait(jobs.submit(make_spec(scenario, RUNS, [PROFILE], seed)), lambda _: None)
                walls.append(time.perf_counter() - began)
                bare.append(together(plain, seed, RUNS // CORES))
        finally:
            for process in plain:
                process.end()
            jobs.close()
    pairs = list(zip(walls, bare, strict=True))[WARM:]
    batch, processes = min(pairs, key=lambda pair: pair[0] - pair[1])
    figures = {"fixed_s": batch - processes, "batch_s": batch, "two_plain_s": processes}
    return batch / processes, figures
