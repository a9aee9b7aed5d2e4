"""The batch over plain processes: the yardstick of benchmarks and the oracle of tests.

Never what a person gets from "run at scale": that is Spark.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from app.batch.runners.plan import Chunk, Plan, Tally
from app.batch.runners.rows import RunChunk, finish_chunk
from engine.study.batch import run_chunk as engine_run_chunk


def run(
    plan: Plan,
    directory: str,
    workers: int,
    on_done: Callable[[Tally], None] | None = None,
    done: Collection[int] = (),
    run_chunk: RunChunk = engine_run_chunk,
) -> None:
    """Compute the chunks of a plan that are not in `done`, and return when all are on disk."""
    todo = (chunk for chunk in plan.chunks() if chunk.number not in done)
    # A server has threads, and a fork would copy their locks: start clean processes.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:

        def submit(chunk: Chunk) -> Future[Tally]:
            return pool.submit(
                finish_chunk, chunk, plan.scenarios, plan.metrics, directory, run_chunk
            )

        for tally in _as_done(submit, todo, 2 * workers):
            if on_done is not None:
                on_done(tally)


def _as_done(
    submit: Callable[[Chunk], Future[Tally]], todo: Iterator[Chunk], ahead: int
) -> Iterator[Tally]:
    """Finished tallies; only a few chunks wait in the pool, so a long plan costs no memory."""
    pending: set[Future[Tally]] = set()
    for chunk in todo:
        pending.add(submit(chunk))
        if len(pending) >= ahead:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in finished)
    for future in pending:
        yield future.result()
