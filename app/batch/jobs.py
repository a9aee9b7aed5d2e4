"""Batches in the background: submitting, cancelling, and resuming interrupted ones.

queued -> (what `computation` does) -> done | cancelled | failed
                                       | interrupted (the server stopped)
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from app.advisor.result import advice_of, advice_of_counts
from app.batch import adaptive_futures, records, statistics, wire
from app.batch.announcer import Announcer, Emit
from app.batch.batch_run import BatchRun
from app.batch.bounds import RUNS_MOST
from app.batch.computation import TELL_EVERY_S, Computation
from app.batch.queue import FairQueue
from app.batch.runners.local import LocalRunner
from app.batch.runners.plan import grown
from app.batch.runners.rows import (
    RunChunk,
    chunks_on_disk,
    delete_damaged,
    remove_directory,
)
from app.batch.runners.tables import RunnerError, SparkError
from app.batch.spec import Futures, Spec, check_chunks, check_total
from app.core import clock, installing
from app.core.config import Settings
from app.core.disk_errors import writing
from app.core.refusals import KeyedSentence, RequestError
from app.storage.batch_fields import ACTIVE, BatchState
from app.storage.database import Database
from app.storage.models import BatchRow
from app.storage.row_limit import MIB, KeptRows
from engine import ENGINE_VERSION

if TYPE_CHECKING:
    from app.batch.runners.spark import SparkRunner


class Locks:
    """One lock file for each batch, in a directory that the processes of a server share.

    The process that computes a batch holds it from before the batch is active until it ends.  The
    system releases it however that process ends, so an active batch without a lock was lost.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def _file(self, number: str) -> Path:
        return self._directory / f"{number}.lock"

    def knows(self, number: str) -> bool:
        """Check whether this batch was ever computed here.

        The locks of other machines are not visible.
        """
        return self._file(number).exists()

    def take(self, number: str) -> IO[str] | None:
        """Return the lock, to be closed; None while another process holds it.

        Raises RequestError where the disk takes nothing.
        """
        with writing():
            file = self._file(number).open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file

    @contextmanager
    def hold_for_new_job(self, number: str) -> Iterator[IO[str]]:
        """Hold the lock for a batch that is queued meanwhile; release it if that fails.

        Raises RequestError.
        """
        lock = self.take(number)
        if lock is None:
            raise RequestError("impossible", "batch.runs.still")
        try:
            yield lock
        except BaseException:
            lock.close()
            raise

    def forget(self, number: str) -> None:
        self._file(number).unlink(missing_ok=True)


log = logging.getLogger(__name__)

AT_ONCE = 2
OWNERS_AT_ONCE = 6
WAITING_MOST = 50
ACTIVE_PER_OWNER = 3
PARTS_MOST = 50
STOP_WITHIN_S = 10.0


class Jobs:
    """All batches of this server; one object per application, threads inside."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        emit: Emit,
        runner: SparkRunner | None = None,
        run_chunk: RunChunk | None = None,
        mutex: AbstractContextManager[object] | None = None,
    ) -> None:
        self.database = database
        self._per_address = settings.batches_per_address
        self._settings = settings
        self._runner = runner
        self._making = threading.Lock()
        self._locks = Locks(settings.instance.resolve() / "batches")
        self._root = settings.batch_root
        self._kept = KeptRows(self._root, settings.rows_mib * MIB)
        self._mutex = mutex or threading.Lock()
        self._jobs: dict[str, BatchRun] = {}
        self._queue = FairQueue(AT_ONCE, OWNERS_AT_ONCE)
        self._announcer = Announcer(database, self._queue, emit)
        self._computation = Computation(
            lambda: self.runner,
            self._announcer,
            run_chunk,
            None if runner or settings.spark_master else LocalRunner(),
        )
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        self.trouble = ""
        """Why Spark did not do the last batch it was asked for, if it did not."""
        self.recover()

    @property
    def runner(self) -> SparkRunner:
        """Return the runner of large batches, made when it is first asked for: PySpark is large."""
        with self._making:
            self._runner = self._runner or runner_of(self._settings)
            return self._runner

    # -- what pages, sockets and the command line ask ------------------------------------------

    def submit(self, spec: Spec | Futures, owner: str = "", address: str = "") -> str:
        """Queue a batch and return its id.  Raises RequestError when too many wait."""
        with self._mutex:
            self._bound(owner, address)
            number = records.new_number()
            with self._locks.hold_for_new_job(number) as lock:
                if isinstance(spec, Futures):
                    row = adaptive_futures.new_row(number, spec, owner)
                else:
                    row = records.new_row(number, spec, owner)
                records.add(self.database, row)
                self._enqueue(self._run_of(row, lock, address))
        return number

    def resume(self, number: str, owner: str = "", address: str = "") -> None:
        """Compute the chunks that an ended batch lacks: never played, damaged or gone.

        Raises RequestError.
        """
        batch = self._ended(number, owner)
        if batch.state == BatchState.DONE and self._has_all_rows(batch):
            raise RequestError("impossible", "batch.over")
        self._again(batch, owner, address)

    def add_runs(self, number: str, runs: int, owner: str = "", address: str = "") -> None:
        """Add seeds for every profile and cell of an ended batch; existing runs are not repeated.

        Raises RequestError.
        """
        batch = self._ended(number, owner)
        if not 1 <= runs <= RUNS_MOST - batch.runs or len(batch.parts) >= PARTS_MOST:
            whole = statistics.whole(RUNS_MOST)
            raise RequestError(
                "invalid", "batch.runs", most=whole, asked=statistics.whole(batch.runs + runs)
            )
        check_total((batch.runs + runs) * len(batch.profiles) * len(batch.cells))
        chunk_runs = batch.cells[0].get("chunk_runs", 0)
        if chunk_runs:
            check_chunks(grown(records.plan_of(batch, chunk_runs, ()), runs))
        parts = [*(batch.parts or [batch.runs]), runs]
        self._again(batch, owner, address, parts=parts, runs=batch.runs + runs)

    def rename(self, number: str, title: str, owner: str = "") -> None:
        """Set the title of a batch; "" is that of its scenario.  Raises RequestError."""
        _check_owner(self.batch(number), owner)
        records.update(self.database, number, title=title)

    def delete(self, number: str, owner: str = "") -> None:
        """Delete an ended batch and its rows.  Raises RequestError."""
        batch = self.batch(number)
        _check_owner(batch, owner)
        with self._mutex:
            if number in self._jobs or batch.state in ACTIVE:
                raise RequestError("impossible", "batch.runs.still")
            records.remove(self.database, number)
        remove_directory(self.directory(number))
        self._locks.forget(number)

    def _ended(self, number: str, owner: str) -> BatchRow:
        """Return a batch of this owner that this engine can go on with."""
        batch = self.batch(number)
        _check_owner(batch, owner)
        if batch.engine_version != ENGINE_VERSION:
            raise RequestError(
                "impossible", "batch.engine", then=batch.engine_version, now=ENGINE_VERSION
            )
        if batch.state in ACTIVE:
            raise RequestError("impossible", "batch.runs.still")
        return batch

    def _has_all_rows(self, batch: BatchRow) -> bool:
        """Delete damaged files of the batch; check whether all its rows are left."""
        directory = self.directory(batch.id)
        sound = delete_damaged(directory, chunks_on_disk(directory))
        return len(sound) >= batch.done_chunks

    def _again(self, batch: BatchRow, owner: str, address: str, **more: Any) -> None:
        """Queue an ended batch with these fields, unless it was resumed since it was read."""
        with self._mutex:
            self._bound(owner, address)
            with self._locks.hold_for_new_job(batch.id) as lock:
                row = records.require_batch(self.database, batch.id)
                if (row.state, row.finished) != (batch.state, batch.finished):
                    raise RequestError("impossible", "batch.runs.still")
                run = self._run_of(row, lock, address)
                run.save(state=BatchState.QUEUED, message="", said=None, finished=None, **more)
                self._enqueue(run)

    def cancel(self, number: str, owner: str = "") -> wire.BatchSnapshot:
        """Request a batch to stop; what is done is kept.  Raises RequestError."""
        run = self._jobs.get(number)  # before the row: a batch that ends meanwhile is not ACTIVE
        batch = self.batch(number)
        _check_owner(batch, owner)
        if run is not None:
            run.stop.set()
            self._queue.wake()
        elif batch.state in ACTIVE:
            raise RequestError("impossible", "batch.elsewhere")
        elif batch.state != BatchState.INTERRUPTED:  # that one stopped already, as was asked
            raise RequestError("impossible", "batch.over")
        return self.snapshot(number)

    def batch(self, number: str) -> BatchRow:
        """Return the stored batch; one whose process is gone is detected here.

        Raises RequestError "gone".
        """
        batch = records.require_batch(self.database, number)
        if batch.state in ACTIVE and number not in self._jobs:
            refusal = None
            if self._locks.knows(number):
                try:
                    self._recover(number)
                except RequestError as error:  # nothing can be written now
                    refusal = error
            batch = records.require_batch(self.database, number)
            if refusal is not None and batch.state in ACTIVE:
                batch.state = BatchState.INTERRUPTED
                batch.said, batch.message = refusal.said(), str(refusal)
            if batch.state == BatchState.INTERRUPTED:
                self._announcer.tell_ended(batch)
        return batch

    def directory(self, number: str) -> str:
        """Return the directory with the rows of a batch."""
        return f"{self._root}/{number}"

    def snapshot(self, number: str) -> wire.BatchSnapshot:
        """Return the progress of a batch with interim counts, the payload of the "batch" event."""
        return self.snapshot_of(self.batch(number))

    def snapshot_of(self, batch: BatchRow) -> wire.BatchSnapshot:
        """Return the same for a row that was just read."""
        return self._announcer.view(batch, self._jobs.get(batch.id))

    def advice_of(self, batch: BatchRow) -> wire.BatchAdvice | None:
        """Return the result of a study of the advisor, also from interim counts."""
        run = self._jobs.get(batch.id)
        if run is not None and (run.pilot or run.counts) and records.is_of_cycles(batch):
            return advice_of_counts(batch, {**run.pilot, **run.counts})
        return advice_of(self.database, batch)

    def wait(self, number: str, progress: Callable[[wire.BatchSnapshot], None]) -> None:
        """Wait until a batch has ended; an interrupt from the keyboard cancels it first."""
        run = self._jobs.get(number)
        while run is not None and not run.ended.is_set():
            try:
                progress(self.snapshot(number))
                run.ended.wait(TELL_EVERY_S)
            except KeyboardInterrupt:
                run.stop.set()
        progress(self.snapshot(number))

    def count(self) -> int:
        """Return the number of batches that wait or run in this process."""
        return len(self._jobs)

    def recover(self) -> None:
        """Mark batches whose process is gone as interrupted: finished chunks are kept."""
        for number in records.unfinished(self.database):
            self._recover(number)

    def _recover(self, number: str) -> None:
        lock = self._locks.take(number)
        if lock is not None:
            try:
                records.interrupt(self.database, number)
            finally:
                lock.close()

    def close(self) -> None:
        """Stop all batches, keeping what is done, and Spark."""
        self._closing.set()
        for run in list(self._jobs.values()):
            run.stop.set()
        self._queue.close()
        until = clock.monotonic() + STOP_WITHIN_S
        for thread in self._threads:
            thread.join(max(0.0, until - clock.monotonic()))
        if self._runner is not None:
            self._runner.close()

    # -- inside --------------------------------------------------------------------------------

    def _bound(self, owner: str, address: str) -> None:
        installing.require()
        runs = list(self._jobs.values())
        mine = sum(1 for run in runs if owner and run.row.owner == owner)
        if mine >= ACTIVE_PER_OWNER or len(runs) >= WAITING_MOST:
            raise RequestError("slow_down", "batch.queue", n=mine or len(runs), ms=5000)
        # A browser names itself, so one client could take all places under many names.
        here = sum(1 for run in runs if address and run.address == address)
        if here >= self._per_address:
            raise RequestError("slow_down", "batch.queue", n=here, ms=5000)
        self._kept.require_room()

    def _run_of(self, row: BatchRow, lock: IO[str], address: str) -> BatchRun:
        return BatchRun(self.database, row, self.directory(row.id), lock, address)

    def _enqueue(self, run: BatchRun) -> None:
        self._jobs[run.id] = run
        self._queue.put(run)
        self._employ()

    def _employ(self) -> None:
        """Start a thread that works on the queue, unless there is one."""
        if len(self._threads) < OWNERS_AT_ONCE:
            thread = threading.Thread(target=self._serve, name="batches", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self) -> None:
        while (run := self._queue.get()) is not None:
            try:
                self._work(run)
            finally:
                self._queue.ended(run)

    def _work(self, run: BatchRun) -> None:
        self._announcer.tell_waiting()
        state = BatchState.FAILED
        refused: KeyedSentence | None = None
        try:
            state, message = self._computation.compute(run, self._closing)
            self.trouble = ""
        except RunnerError as trouble:
            message = str(trouble)
            self.trouble = message if isinstance(trouble, SparkError) else self.trouble
        except RequestError as error:
            refused, message = error.said(), str(error)
        except Exception as error:
            log.exception("Batch %s failed", run.id)
            unknown = RequestError("engine", "engine.unknown", error=type(error).__name__)
            refused, message = unknown.said(), str(unknown)
        if state == BatchState.CANCELLED and self._closing.is_set():
            state = BatchState.INTERRUPTED
        try:
            run.finish(state, message, refused)
            self._announcer.tell(run)
        except RequestError as error:  # `batch` says so, until it can be stored
            log.warning("The end of batch %s was not stored: %s", run.id, error)
        except Exception:
            log.exception("The end of batch %s was not stored", run.id)
        finally:
            with self._mutex:
                self._jobs.pop(run.id, None)
                run.lock.close()
            run.ended.set()


def runner_of(settings: Settings) -> SparkRunner:
    from app.batch.runners.connect import SCHEME, ConnectRunner
    from app.batch.runners.spark import SparkRunner

    if settings.spark_master.startswith(SCHEME):
        return ConnectRunner(settings.spark_master)
    own = {"HIGHWATER_SPARK_CONF": settings.spark_conf, "HIGHWATER_SPARK_LOG": settings.spark_log}
    return SparkRunner(settings.spark_master, {**os.environ, **own})


def _check_owner(batch: BatchRow, owner: str) -> None:
    # A batch of the command line has the owner "", which no browser has.
    if batch.owner != owner:
        raise RequestError("forbidden", "batch.foreign")
