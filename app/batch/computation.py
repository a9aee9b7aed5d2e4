"""Computation of one batch: probing -> starting -> running -> summarising, and its end.

Whatever happens, finished chunks stay on disk and their counts in the database.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from app.batch import adaptive_futures, cycles, records
from app.batch.announcer import Announcer
from app.batch.causes import histogram, to_trace
from app.batch.estimate import probe
from app.batch.job import Job
from app.batch.runners.compaction import compact
from app.batch.runners.connect import ConnectRunner
from app.batch.runners.local import LocalRunner
from app.batch.runners.plan import BatchPlan, PlanTally, of_cycles, sized
from app.batch.runners.rows import RunChunk, chunks_on_disk, set_damaged_aside
from app.batch.runners.spark import SparkRunner
from app.batch.runners.summary import Summary
from app.batch.runners.tables import RunnerError
from app.batch.spec import check_chunks
from app.core import clock
from app.core.refusals import RequestError
from app.storage.batch_fields import BatchState
from app.storage.database import Database
from app.storage.models import BatchRow, now_ms
from engine.sim.run import Run
from engine.study.batch import run_chunk
from engine.study.metrics import METRICS

log = logging.getLogger(__name__)

Runner = SparkRunner | ConnectRunner | LocalRunner

FAILURES_KEPT = 20
"""First failing seeds of each profile, cell and invariant."""
TELL_EVERY_S = 0.25
SAVE_EVERY_S = 1.0
FEW_CHUNKS = 16
"""Of a second each: Spark needs as long to start."""


class Computation:
    """Worker that computes batches, one call each; several threads may use it at one time.

    `run_chunk` plays a chunk, None for the engine; `directory` returns the place of rows; `few`
    plays what is done before Spark would have started, None where Spark plays all.
    """

    def __init__(
        self,
        database: Database,
        runner: SparkRunner | ConnectRunner,
        announcer: Announcer,
        directory: Callable[[str], str],
        run_chunk: Callable[[], RunChunk | None],
        few: LocalRunner | None = None,
    ) -> None:
        self._database = database
        self._runner = runner
        self._few = few
        self._announcer = announcer
        self._directory = directory
        self._run_chunk = run_chunk

    def _play(self) -> RunChunk:
        return self._run_chunk() or run_chunk

    def compute(self, job: Job, closing: Callable[[], bool]) -> tuple[BatchState, str]:
        """Play the missing chunks of a batch and count it: (state it ends in, message)."""
        batch = records.require_batch(self._database, job.id)
        directory = self._directory(batch.id)
        done = chunks_on_disk(directory)
        job.done_chunks = len(done)
        if job.stop.is_set():
            return BatchState.CANCELLED, ""
        plan = self._planned(job, batch)
        if job.stop.is_set():
            return BatchState.CANCELLED, ""
        done = set_damaged_aside(directory, done)
        job.done_chunks = len(done)
        runner = self._runner_of(plan, len(done))
        if isinstance(runner, LocalRunner):
            records.update(self._database, batch.id, started=batch.started or now_ms())
        else:
            self._state(job, BatchState.STARTING, started=batch.started or now_ms())
            runner.start()
        job.message = str(runner)
        if done and not of_cycles(plan.scenarios):
            job.counts = records.counts_of(runner.summarise(plan, directory, done, 0).cells)
        job.began = clock.monotonic()
        self._state(job, BatchState.RUNNING)
        trouble = ""
        try:
            complete = self._run(job, runner, plan, directory, done)
            while complete and self._looks_closer(job, plan):
                plan = self._planned(job, records.require_batch(self._database, job.id))
                done = chunks_on_disk(directory)
                complete = self._run(job, runner, plan, directory, done)
        except RunnerError as error:
            complete, trouble = False, str(error)
        batch = records.require_batch(self._database, job.id)
        records.save_counts(self._database, batch, job.counts)
        done = chunks_on_disk(directory)
        job.done_chunks = len(done)
        if done and not (trouble and closing()):
            self._state(job, BatchState.SUMMARISING)
            if complete and not _compact(directory, plan):
                done = set_damaged_aside(directory, done)
            try:
                self._summarise(job, runner, plan, directory, done, trouble)
            except (RunnerError, OSError, ValueError):
                # Rows that cannot be counted may be damaged; damaged chunks are played again.
                done = set_damaged_aside(directory, done)
                if len(done) == job.done_chunks:
                    raise
        if trouble:
            return BatchState.FAILED, trouble
        if complete and len(done) < plan.total_chunks:
            job.done_chunks = len(done)
            raise RequestError("busy", "batch.damaged", n=plan.total_chunks - len(done))
        ended = complete or (job.enough and not job.stop.is_set())
        return (BatchState.DONE, job.message) if ended else (BatchState.CANCELLED, job.message)

    def _run(
        self, job: Job, runner: Runner, plan: BatchPlan, directory: str, done: set[int]
    ) -> bool:
        """Play the chunks that are not in `done`; return True when none is missing."""
        batch = records.require_batch(self._database, job.id)
        return runner.run(
            plan,
            directory,
            f"batch-{batch.id}",
            lambda fresh: self._on_done(job, batch, fresh),
            lambda: job.stop.is_set() or job.enough,
            done,
            self._run_chunk(),
        )

    def _looks_closer(self, job: Job, plan: BatchPlan) -> bool:
        """Check whether futures are to be played of further places.

        Their chunks come after those that are there, so a batch that runs were added to stays as it
        is.
        """
        if not plan.futures or plan.slices > 1:
            return False
        return adaptive_futures.look_closer(
            self._database, records.require_batch(self._database, job.id), job.counts
        )

    def _runner_of(self, plan: BatchPlan, done: int) -> Runner:
        """Return the runner for these chunks.

        A chunk is played in about a second at most, but for those of long runs.
        """
        few = plan.total_chunks - done <= FEW_CHUNKS
        return self._few if self._few and few and not self._runner.started else self._runner

    def _summarise(
        self,
        job: Job,
        runner: Runner,
        plan: BatchPlan,
        directory: str,
        done: set[int],
        trouble: str,
    ) -> None:
        if of_cycles(plan.scenarios):
            summary, leaves = cycles.summarise(directory, done, FAILURES_KEPT)
            batch = records.require_batch(self._database, job.id)
            records.save_summary(self._database, batch, summary)
            records.update(self._database, job.id, about={**batch.about, "leaves": leaves})
            job.counts = records.counts_of(summary.cells)
            return
        try:
            summary = runner.summarise(plan, directory, done, FAILURES_KEPT)
        except RunnerError:
            if trouble:  # one sentence is enough; the interim counts are stored
                return
            raise
        records.save_summary(self._database, records.require_batch(self._database, job.id), summary)
        job.counts = records.counts_of(summary.cells)
        try:
            causes = self._causes(runner, records.require_batch(self._database, job.id), summary)
            records.save_causes(self._database, job.id, causes)
        except Exception:  # an addition to the result, which is whole without it
            log.warning("The failures of batch %s were not traced", job.id, exc_info=True)

    def _causes(self, runner: Runner, batch: BatchRow, summary: Summary) -> list[dict[str, Any]]:
        """Return the causes of the first failing runs.

        Futures of one run all break what it broke.
        """
        if batch.kind == records.FUTURES:
            return []
        groups = len(batch.profiles) * len(batch.cells)
        keys = to_trace(summary.failures, groups, FAILURES_KEPT)
        cells = {cell for _, cell, _ in keys}
        played = {cell: records.cell_scenario(batch, cell).scenario for cell in cells}
        runs = [Run(played[cell], profile, seed).text() for profile, cell, seed in keys]
        return histogram(keys, runner.causes(runs))

    def _planned(self, job: Job, batch: BatchRow) -> BatchPlan:
        """Return the plan with chunks of about a second, by the speed of a few runs played here."""
        metrics = () if records.is_of_cycles(batch) else tuple(METRICS)
        if records.is_of_cycles(batch) and "effort" not in batch.about:
            self._pilot(job, batch)
            batch = records.require_batch(self._database, job.id)
        chunk_runs = batch.cells[0].get("chunk_runs", 0)
        if not chunk_runs and batch.kind == records.FUTURES:
            chunk_runs = batch.runs  # a place is looked at as a whole
        if not chunk_runs:
            self._state(job, BatchState.PROBING)
            # By the processor's clock: on a busy machine chunks must not become too small.
            play = self._play()
            one = records.plan_of(batch, 1, metrics)
            plan = sized(one, probe(one, play, clock.processor, job.stop.is_set).runs_per_s)
            if job.stop.is_set():
                return plan
            check_chunks(plan)
        else:
            plan = records.plan_of(batch, chunk_runs, metrics)
        records.keep_chunk_runs(self._database, batch, plan.chunk_runs, plan.total_chunks)
        job.total_chunks = plan.total_chunks
        return plan

    def _pilot(self, job: Job, batch: BatchRow) -> None:
        """Play a few trees of the asked setting in this process, as a first answer.

        They show where copies are worth their time.  They are not counted, as they decide what is.
        """
        self._state(job, BatchState.PROBING)

        def update_progress(sums: cycles.Sums, trees: int) -> None:
            job.pilot = {(batch.profiles[0], 0): records.Counted(trees, weights=sums)}
            self._announcer.tell(job)

        asked = *records.asked_of(batch, 0), batch.profiles[0]
        effort = cycles.pilot(*asked, update_progress, job.stop.is_set)
        about = {**batch.about, "effort": effort}
        records.update(self._database, job.id, about=about)

    def _on_done(self, job: Job, batch: BatchRow, fresh: list[PlanTally]) -> None:
        records.add_tallies(job.counts, fresh)
        job.done_chunks += len(fresh)
        job.fresh_runs += sum(tally.runs for tally in fresh)
        now = clock.monotonic()
        if fresh and now - job.saved >= SAVE_EVERY_S:
            job.saved = now
            records.save_counts(self._database, batch, job.counts)
            records.update(self._database, job.id, done_chunks=job.done_chunks)
        # Many groups make a large message, which is sent less often.
        if now - job.told >= TELL_EVERY_S * (1 + len(job.counts) // 64):
            job.enough = job.enough or records.is_enough(batch, job.counts)
            self._announcer.tell(job)

    def _state(self, job: Job, state: BatchState, **fields: Any) -> None:
        job.state = state
        records.update(self._database, job.id, state=state, message=job.message, **fields)
        self._announcer.tell(job)


def _compact(directory: str, plan: BatchPlan) -> bool:
    """Merge the files into fewer and smaller ones; where that fails, the rows stay as they are."""
    if "://" in directory:  # all of it would have to travel here and back
        return True
    try:
        compact(directory, plan.groups)
    except (OSError, ValueError):
        log.warning("The rows in %s were not put together", directory, exc_info=True)
        return False
    return True
