"""Runner of a batch in plain processes of this machine.

It plays batches too small to wait for a start of Java, and is the yardstick of benchmarks and the
oracle of tests for all other runners.

The rows are the same, byte for byte; Spark plays the large ones.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any

from app.batch.processes import pool
from app.batch.runners.plan import BatchPlan, Chunk, PlanTally
from app.batch.runners.rows import RunChunk, finish_chunk
from app.batch.runners.summary import Summary, summarise
from app.batch.runners.tables import DuckTables, RunnerError
from engine.sim.run import Run
from engine.study.batch import run_chunk as engine_run_chunk
from engine.study.causes import cause_of

log = logging.getLogger(__name__)

HEARTBEAT_S = 0.25
ATTEMPTS = 3
"""Pools of processes that are tried before a batch fails."""


class LocalRunner:
    """Counterpart of `SparkRunner` in processes that live as long as a batch."""

    def __init__(self, cores: int = 0) -> None:
        self._cores = cores or os.cpu_count() or 1

    def __str__(self) -> str:
        return f"{self._cores} processes of this machine: too few runs to start Spark for"

    def cores(self) -> int:
        return self._cores

    def run(
        self,
        plan: BatchPlan,
        directory: str,
        tag: str = "",
        on_done: Callable[[list[PlanTally]], None] = lambda fresh: None,
        stop: Callable[[], bool] = lambda: False,
        done: Collection[int] = (),
        run_chunk: RunChunk | None = None,
    ) -> bool:
        """Compute the chunks that are not in `done`; True if all are on disk, False if stopped.

        `on_done` gets what has finished, or nothing as a heartbeat.  Chunks of a process that was
        killed are computed again.  Raises RunnerError after ATTEMPTS such kills.
        """
        finished = set(done)
        fixed = plan.scenarios, plan.metrics, directory, run_chunk or engine_run_chunk
        for _ in range(ATTEMPTS):
            todo = (chunk for chunk in plan.chunks() if chunk.number not in finished)
            try:
                with pool(self._cores) as processes:
                    for fresh in _as_done(processes, todo, fixed, 2 * self._cores):
                        finished.update(tally.number for tally in fresh)
                        on_done(fresh)
                        if stop():
                            processes.shutdown(cancel_futures=True)
                            return False
                return True
            except BrokenProcessPool:
                log.warning("A process of a batch was killed; its chunks are computed again")
        raise RunnerError(
            f"A process of this batch was killed {ATTEMPTS} times: this machine may have too "
            "little memory. Resume it later, or ask for shorter runs."
        )

    def summarise(
        self, plan: BatchPlan, directory: str, done: Collection[int], keep: int
    ) -> Summary:
        return counted_here(plan, directory, done, keep)

    def causes(self, runs: Sequence[str]) -> list[tuple[str, str] | None]:
        """Return the cause of failure of each run, given as text (engine.study.causes)."""
        if not runs:
            return []
        with pool(self._cores) as processes:
            return list(processes.map(_cause, runs))


def counted_here(plan: BatchPlan, directory: str, done: Collection[int], keep: int) -> Summary:
    """Count these finished chunks in this process.  Raises RunnerError."""
    import duckdb  # late, as `open_duck` says

    try:
        with closing(DuckTables(directory, done, plan.metrics)) as tables:
            return summarise(tables, plan, keep)
    except duckdb.Error as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise RunnerError(f"The rows could not be counted: {why}.") from error


def _cause(text: str) -> tuple[str, str] | None:
    return cause_of(Run.from_text(text))


def _as_done(
    processes: ProcessPoolExecutor, todo: Iterator[Chunk], fixed: tuple[Any, ...], ahead: int
) -> Iterator[list[PlanTally]]:
    """Yield finished tallies; `fixed`: what `finish_chunk` takes besides a chunk.

    Only a few chunks wait in the pool, so a long plan costs no memory.
    """
    pending: set[Future[PlanTally]] = set()
    more = True
    while more or pending:
        while more and len(pending) < ahead:
            chunk = next(todo, None)
            if chunk is None:
                more = False
            else:
                pending.add(processes.submit(finish_chunk, chunk, *fixed))
        finished, pending = wait(pending, HEARTBEAT_S, FIRST_COMPLETED)
        yield [future.result() for future in finished]
