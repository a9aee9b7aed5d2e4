"""Queue of studies: addresses take turns, and the studies of each run in their order.

`at_once` studies run together, of whatever addresses.  Beyond these, an address that has none
running starts one at once, up to `owners_at_once`: Spark shares its cores among all that run, so no
address waits for the end of another's day-long study.
"""

from __future__ import annotations

import threading
from collections import Counter

from app.batch.batch_run import BatchRun


class FairQueue:
    """Batches that wait and batches that run; safe for threads."""

    def __init__(self, at_once: int, owners_at_once: int) -> None:
        self._at_once = at_once
        self._owners_at_once = max(at_once, owners_at_once)
        self._changed = threading.Condition()
        self._waiting: list[BatchRun] = []
        self._running: list[BatchRun] = []
        self._closed = False

    def put(self, run: BatchRun) -> None:
        with self._changed:
            self._waiting.append(run)
            self._changed.notify_all()

    def get(self) -> BatchRun | None:
        """Return the next batch, which counts as running; None once closed and empty."""
        with self._changed:
            while True:
                run = self.take()
                if run is not None:
                    return run
                if self._closed and not self._waiting:
                    return None
                self._changed.wait()

    def take(self) -> BatchRun | None:
        """Return the next batch that may start now, if there is one.

        It counts as running from now on.
        """
        with self._changed:
            run = next((queued for queued in self._in_order() if self._may_start(queued)), None)
            if run is not None:
                self._waiting.remove(run)
                self._running.append(run)
            return run

    def ended(self, run: BatchRun) -> None:
        """Free the place of a batch that `get` returned."""
        with self._changed:
            self._running.remove(run)
            self._changed.notify_all()

    def wake(self) -> None:
        """Wake waiting threads: a waiting batch was cancelled."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Close the queue: waiting threads get the batches that are left, then None."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def waiting(self) -> list[BatchRun]:
        """Return the waiting batches in the order in which they will start."""
        with self._changed:
            return self._in_order()

    def before(self, run: BatchRun) -> int:
        """Return the number of waiting batches that start before this one; 0 for one that runs."""
        waiting = self.waiting()
        return waiting.index(run) if run in waiting else 0

    def _in_order(self) -> list[BatchRun]:
        turns = Counter(run.payer for run in self._running)
        keyed = []
        for number, run in enumerate(self._waiting):
            keyed.append((turns[run.payer], number, run))
            turns[run.payer] += 1
        return [run for _, _, run in sorted(keyed, key=lambda entry: entry[:2])]

    def _may_start(self, run: BatchRun) -> bool:
        if run.stop.is_set():  # it only has to be marked as ended
            return True
        if len(self._running) < self._at_once:
            return True
        payers = {running.payer for running in self._running}
        return run.payer not in payers and len(self._running) < self._owners_at_once
