"""Queue of studies: addresses take turns, and the studies of each run in their order.

`at_once` studies run together, of whatever addresses.  Beyond these, an address that has none
running starts one at once, up to `owners_at_once`: Spark shares its cores among all that run, so no
address waits for the end of another's day-long study.
"""

from __future__ import annotations

import threading
from collections import Counter

from app.batch.job import Job


class FairQueue:
    """Jobs that wait and jobs that run; safe for threads."""

    def __init__(self, at_once: int, owners_at_once: int) -> None:
        self._at_once = at_once
        self._owners_at_once = max(at_once, owners_at_once)
        self._changed = threading.Condition()
        self._waiting: list[Job] = []
        self._running: list[Job] = []
        self._closed = False

    def put(self, job: Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def get(self) -> Job | None:
        """Return the next job, which counts as running from now on; None once closed and empty."""
        with self._changed:
            while True:
                job = self.take()
                if job is not None:
                    return job
                if self._closed and not self._waiting:
                    return None
                self._changed.wait()

    def take(self) -> Job | None:
        """Return the next job that may start now, if there is one.

        It counts as running from now on.
        """
        with self._changed:
            job = next((one for one in self._in_order() if self._may_start(one)), None)
            if job is not None:
                self._waiting.remove(job)
                self._running.append(job)
            return job

    def ended(self, job: Job) -> None:
        """Free the place of a job that `get` returned."""
        with self._changed:
            self._running.remove(job)
            self._changed.notify_all()

    def wake(self) -> None:
        """Wake waiting threads: a waiting job was cancelled."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Close the queue: waiting threads get the jobs that are left, then None."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def waiting(self) -> list[Job]:
        """Return the waiting jobs in the order in which they will start."""
        with self._changed:
            return self._in_order()

    def before(self, job: Job) -> int:
        """Return the number of waiting jobs that start before this one; 0 for one that runs."""
        waiting = self.waiting()
        return waiting.index(job) if job in waiting else 0

    def _in_order(self) -> list[Job]:
        turns = Counter(job.payer for job in self._running)
        keyed = []
        for number, job in enumerate(self._waiting):
            keyed.append((turns[job.payer], number, job))
            turns[job.payer] += 1
        return [job for _, _, job in sorted(keyed, key=lambda one: one[:2])]

    def _may_start(self, job: Job) -> bool:
        if job.stop.is_set():  # it only has to be marked as ended
            return True
        if len(self._running) < self._at_once:
            return True
        payers = {one.payer for one in self._running}
        return job.payer not in payers and len(self._running) < self._owners_at_once
