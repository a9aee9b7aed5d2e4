"""Batch progress notifications: one message for pages and sockets alike."""

from __future__ import annotations

import logging
from collections.abc import Callable

from app.batch import records, wire
from app.batch.job import Job, view
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

    def view(self, batch: BatchRow, job: Job | None) -> wire.BatchSnapshot:
        """Return the progress of a batch and the number of batches that start before it."""
        before = self._queue.before(job) if job else 0
        return {**view(self._database, batch, job), "before": before}

    def tell(self, job: Job) -> None:
        """Send the progress of a batch that waits or runs here."""
        job.told = clock.monotonic()
        batch = records.row(self._database, job.id)
        if batch is not None:
            self._emit(self.view(batch, job), room(job.id))

    def tell_ended(self, batch: BatchRow) -> None:
        """Send the state of a batch that no process computes any more."""
        self._emit(self.view(batch, None), room(batch.id))

    def tell_waiting(self) -> None:
        """Send new queue positions after a batch has left the queue."""
        try:
            for job in self._queue.waiting():
                self.tell(job)
        except (
            Exception
        ):  # clients can request the state as well; the job that starts must not suffer
            log.exception("Waiting batches were not told of their place")
