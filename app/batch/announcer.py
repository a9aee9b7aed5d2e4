"""Batch progress notifications: one message for pages and sockets alike."""

from __future__ import annotations

import logging
from collections.abc import Callable

from app.batch import adaptive_futures, records, wire
from app.batch.batch_run import BatchRun
from app.batch.queue import FairQueue
from app.core import clock
from app.storage.database import Database
from app.storage.models import BatchRow

log = logging.getLogger(__name__)

Emit = Callable[[wire.BatchSnapshot, str], None]
"""Sends a snapshot to the clients in a room."""


def room(number: str) -> str:
    """Return the Socket.IO room whose members receive the events of the batch."""
    return f"batch:{number}"


class Announcer:
    """Sender of batch events; knows nothing of the workers that compute them."""

    def __init__(self, database: Database, queue: FairQueue, emit: Emit) -> None:
        self._database = database
        self._queue = queue
        self._emit = emit

    def view(self, batch: BatchRow, run: BatchRun | None) -> wire.BatchSnapshot:
        """Return the progress of a batch and the number of batches that start before it."""
        before = self._queue.before(run) if run else 0
        return {**_progress(self._database, run.row if run else batch, run), "before": before}

    def tell(self, run: BatchRun) -> None:
        """Send the progress of a batch that waits or runs here."""
        run.told = clock.monotonic()
        self._emit(self.view(run.row, run), room(run.id))

    def tell_ended(self, batch: BatchRow) -> None:
        """Send the state of a batch that no process computes any more."""
        self._emit(self.view(batch, None), room(batch.id))

    def tell_waiting(self) -> None:
        """Send new queue positions after a batch has left the queue."""
        try:
            for run in self._queue.waiting():
                self.tell(run)
        except (
            Exception
        ):  # clients can request the state as well; the batch that starts must not suffer
            log.exception("Waiting batches were not told of their place")


def _progress(database: Database, batch: BatchRow, run: BatchRun | None) -> wire.ProgressJson:
    """Return the progress of a batch with interim counts, for pages and sockets."""
    if run is not None and run.counts:
        counts = dict(run.counts)
    else:
        counts = records.counts_stored(database, batch)
    order = {profile: i for i, profile in enumerate(batch.profiles)}
    place = adaptive_futures.places(batch)
    keys = sorted(counts, key=lambda key: (place[key[1]], order.get(key[0], 0)))
    done = sum(mine.n for mine in counts.values())
    # A batch that looks closer step by step will have more cells, at most `most`.
    cells = max(len(batch.cells), batch.about.get("most", 0) if run else 0)
    total = batch.runs * len(batch.profiles) * cells
    speed = run.runs_per_s() if run else _speed(batch, done)
    return {
        "id": batch.id,
        "state": batch.state,
        "message": batch.message,
        "said": batch.said,
        "done_chunks": batch.done_chunks,
        "total_chunks": batch.total_chunks,
        "done_runs": done,
        "total_runs": total,
        "runs_per_s": round(speed, 1),
        "left_s": round((total - done) / speed, 1) if run and speed else None,
        "cells": [records.cell_view(batch, *key, counts[key]) for key in keys],
    }


def _speed(batch: BatchRow, done: int) -> float:
    if not batch.started or not batch.finished or batch.finished <= batch.started:
        return 0.0
    return done / (batch.finished - batch.started) * 1000
