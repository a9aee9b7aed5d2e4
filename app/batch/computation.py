"""Computation of one batch: probing -> starting -> running -> summarising, and its end.

Whatever happens, finished chunks stay on disk and their counts in the database.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from app.batch import adaptive_futures, cycles, records
from app.batch.announcer import Announcer
from app.batch.batch_run import BatchRun
from app.batch.estimate import probe
from app.batch.runners.local import LocalRunner
from app.batch.runners.plan import BatchPlan, PlanTally, of_cycles, sized
from app.batch.runners.rows import RunChunk, chunks_on_disk, delete_damaged
from app.batch.runners.summary import Failure, Summary
from app.batch.runners.tables import RunnerError
from app.batch.spec import check_chunks
from app.core import clock, installing
from app.core.refusals import RequestError
from app.storage.batch_fields import BatchCause, BatchState
from app.storage.models import BatchRow, now_ms
from engine.sim.run import Run
from engine.study.batch import run_chunk
from engine.study.metrics import METRICS

if TYPE_CHECKING:
    from app.batch.runners.spark import SparkRunner

    Runner = SparkRunner | LocalRunner

log = logging.getLogger(__name__)

FAILURES_KEPT = 20
"""First failing seeds of each profile, cell and invariant."""
TELL_EVERY_S = 0.25
FEW_CHUNKS = 16
"""Of a second each: Spark needs as long to start."""


class Computation:
    """Worker that computes batches, one call each; several threads may use it at one time.

    `runner` returns the one of Spark, which may have to be installed first.  `run_chunk` plays a
    chunk, None for the engine; `few` plays what is done before Spark would have started, None where
    Spark plays all.
    """

    def __init__(
        self,
        runner: Callable[[], SparkRunner],
        announcer: Announcer,
        run_chunk: RunChunk | None = None,
        few: LocalRunner | None = None,
    ) -> None:
        self._runner = runner
        self._announcer = announcer
        self.run_chunk = run_chunk
        self._few = few
        self._has_spark = False

    def compute(self, run: BatchRun, closing: threading.Event) -> tuple[BatchState, str]:
        """Play the missing chunks of a batch and count it: (state it ends in, message)."""
        done = chunks_on_disk(run.directory)
        run.count_done(done)
        if run.stop.is_set():
            return BatchState.CANCELLED, ""
        plan = self._planned(run)
        if run.stop.is_set():
            return BatchState.CANCELLED, ""
        done = delete_damaged(run.directory, done)
        run.count_done(done)
        started = run.row.started or now_ms()
        runner: Runner
        if self._few and self._is_few(plan, len(done)):
            runner = self._few
        else:
            why = str(installing.refusal() or "")
            self._enter(run, BatchState.STARTING, started=started, message=why)
            installing.wait(run.stop)
            if run.stop.is_set():
                return BatchState.CANCELLED, ""
            runner = self._runner()
            runner.start()
            self._has_spark = True
        if done and not of_cycles(plan.scenarios):
            run.counts = records.counts_of(runner.summarise(plan, run.directory, done, 0).cells)
        run.began = clock.monotonic()
        self._enter(run, BatchState.RUNNING, started=started, message=str(runner))
        trouble = ""
        try:
            complete = self._play(run, runner, plan, done)
            while complete and self._add_futures(run, plan):
                plan = self._planned(run)
                complete = self._play(run, runner, plan, chunks_on_disk(run.directory))
        except RunnerError as error:
            complete, trouble = False, str(error)
        run.save_counts()
        done = chunks_on_disk(run.directory)
        run.count_done(done)
        if done and not (trouble and closing.is_set()):
            self._enter(run, BatchState.SUMMARISING)
            if complete and not _compact(run.directory, plan):
                done = delete_damaged(run.directory, done)
            try:
                self._summarise(run, runner, plan, done, trouble)
            except (RunnerError, OSError, ValueError):
                # Rows that cannot be counted may be damaged; damaged chunks are played again.
                done = delete_damaged(run.directory, done)
                if len(done) == run.row.done_chunks:
                    raise
        if trouble:
            return BatchState.FAILED, trouble
        if complete and len(done) < plan.total_chunks:
            run.count_done(done)
            raise RequestError("busy", "batch.damaged", n=plan.total_chunks - len(done))
        ended = complete or (run.enough and not run.stop.is_set())
        return BatchState.DONE if ended else BatchState.CANCELLED, run.row.message

    def _play(self, run: BatchRun, runner: Runner, plan: BatchPlan, done: set[int]) -> bool:
        """Play the chunks that are not in `done`; return True when none is missing."""
        return runner.run(
            plan,
            run.directory,
            f"batch-{run.id}",
            lambda fresh: self._on_done(run, fresh),
            lambda: run.stop.is_set() or run.enough,
            done,
            self.run_chunk,
        )

    def _add_futures(self, run: BatchRun, plan: BatchPlan) -> bool:
        """Add the futures of further places to be played; True if there are any.

        Their chunks come after those that are there, so a batch that runs were added to stays as it
        is.
        """
        if not plan.futures or plan.slices > 1:
            return False
        return adaptive_futures.look_closer(run)

    def _is_few(self, plan: BatchPlan, done: int) -> bool:
        """Check whether these chunks would be done before Spark has started.

        A chunk is played in about a second at most, but for those of long runs.
        """
        return plan.total_chunks - done <= FEW_CHUNKS and not self._has_spark

    def _summarise(
        self, run: BatchRun, runner: Runner, plan: BatchPlan, done: set[int], trouble: str
    ) -> None:
        if of_cycles(plan.scenarios):
            summary, leaves = cycles.summarise(run.directory, done, FAILURES_KEPT)
            run.save_summary(summary, leaves=leaves)
            return
        try:
            summary = runner.summarise(plan, run.directory, done, FAILURES_KEPT)
        except RunnerError:
            if trouble:  # one sentence is enough; the interim counts are stored
                return
            raise
        run.save_summary(summary)
        try:
            run.save(about={**run.row.about, "causes": self._causes(runner, run.row, summary)})
        except Exception:  # an addition to the result, which is whole without it
            log.warning("The failures of batch %s were not traced", run.id, exc_info=True)

    def _causes(self, runner: Runner, batch: BatchRow, summary: Summary) -> list[BatchCause]:
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

    def _planned(self, run: BatchRun) -> BatchPlan:
        """Return the plan with chunks of about a second, by the speed of a few runs played here."""
        batch = run.row
        metrics = () if records.is_of_cycles(batch) else tuple(METRICS)
        if records.is_of_cycles(batch) and "effort" not in batch.about:
            self._pilot(run)
        chunk_runs = batch.cells[0].get("chunk_runs", 0)
        if not chunk_runs and batch.kind == records.FUTURES:
            chunk_runs = batch.runs  # a place is looked at as a whole
        if not chunk_runs:
            self._enter(run, BatchState.PROBING)
            # By the processor's clock: on a busy machine chunks must not become too small.
            play = self.run_chunk or run_chunk
            one_run = records.plan_of(batch, 1, metrics)
            plan = sized(one_run, probe(one_run, play, clock.processor, run.stop.is_set).runs_per_s)
            if run.stop.is_set():
                return plan
            check_chunks(plan)
        else:
            plan = records.plan_of(batch, chunk_runs, metrics)
        # A batch that is resumed must have the same chunks.
        cells = [{**cell, "chunk_runs": plan.chunk_runs} for cell in batch.cells]
        run.save(cells=cells, total_chunks=plan.total_chunks)
        return plan

    def _pilot(self, run: BatchRun) -> None:
        """Play a few trees of the asked setting in this process, as a first answer.

        They show where copies are worth their time.  They are not counted, as they decide what is.
        """
        self._enter(run, BatchState.PROBING)
        batch = run.row

        def update_progress(sums: cycles.Sums, trees: int) -> None:
            run.pilot = {(batch.profiles[0], 0): records.Counted(trees, weights=sums)}
            self._announcer.tell(run)

        question = *records.asked_of(batch, 0), batch.profiles[0]
        effort = cycles.pilot(*question, update_progress, run.stop.is_set)
        run.save(about={**batch.about, "effort": effort})

    def _on_done(self, run: BatchRun, fresh: list[PlanTally]) -> None:
        run.progress(fresh)
        # Many groups make a large message, which is sent less often.
        if clock.monotonic() - run.told >= TELL_EVERY_S * (1 + len(run.counts) // 64):
            run.enough = run.enough or records.is_enough(run.row, run.counts)
            self._announcer.tell(run)

    def _enter(self, run: BatchRun, state: BatchState, **fields: Any) -> None:
        run.save(state=state, **fields)
        self._announcer.tell(run)


def _compact(directory: str, plan: BatchPlan) -> bool:
    """Merge the files into fewer and smaller ones; where that fails, the rows stay as they are."""
    if "://" in directory:  # all of it would have to travel here and back
        return True
    from app.batch.runners.compaction import compact

    try:
        compact(directory, plan)
    except (OSError, ValueError):
        log.warning("The rows in %s were not put together", directory, exc_info=True)
        return False
    return True


TRACED_MOST: Final = 200
"""Failing runs of a study that are played once more, with a trace of rules."""
STEPS_MOST: Final = 500_000
"""A later break is not traced: with its story, a day of virtual time takes minutes."""

Key = tuple[str, int, int]
"""(profile, cell, seed)"""
Cause = tuple[str, str]
"""(invariant, rule)"""


def to_trace(failures: Sequence[Failure], groups: int, first: int) -> list[Key]:
    """Return the first failing runs of each profile and cell, equally many of each.

    `groups` is how many pairs of profile and cell there are.

    Of an invariant only the `first` by seed are taken: the others are known because they are
    short or lost much, and would be over-represented.
    """
    each = max(1, TRACED_MOST // groups)
    failing: dict[tuple[str, int, str], list[int]] = {}
    for failure in failures:
        if 0 <= failure.step <= STEPS_MOST:
            failing.setdefault((failure.profile, failure.cell, failure.invariant), []).append(
                failure.seed
            )
    seeds_of: dict[tuple[str, int], set[int]] = {}
    for (profile, cell, _), seeds in failing.items():
        seeds_of.setdefault((profile, cell), set()).update(sorted(seeds)[:first])
    keys = [(*group, seed) for group, seeds in seeds_of.items() for seed in sorted(seeds)[:each]]
    return keys[:TRACED_MOST]


def histogram(keys: Sequence[Key], causes: Sequence[Cause | None]) -> list[BatchCause]:
    """Return [{profile, invariant, rule, runs}], the most frequent first."""
    counts = Counter(
        (key[0], *cause) for key, cause in zip(keys, causes, strict=True) if cause is not None
    )
    return [
        {"profile": profile, "invariant": invariant, "rule": rule, "runs": runs}
        for (profile, invariant, rule), runs in sorted(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
    ]
