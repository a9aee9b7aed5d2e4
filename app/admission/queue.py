"""Concurrency limits with a bounded queue and a timeout."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from app.admission.rates import count_down
from app.core import clock
from app.core.refusals import RequestError

AGAIN_MS = 3000
"""After so long it is worth asking again."""
SLICE_S = 0.02
"""CPU seconds after which a task yields to waiting tasks that have had less."""
PASSED_S = 60.0
"""Seconds that a task waits after it has let others pass."""


@contextmanager
def hold(lock: threading.Lock | threading.Semaphore, patience_s: float) -> Iterator[None]:
    """Hold the lock until the block ends.

    Raises RequestError "slow_down" if the lock is not free within `patience_s`.
    """
    if not lock.acquire(timeout=patience_s):
        raise RequestError("slow_down", "busy.plays", ms=AGAIN_MS)
    try:
        yield
    finally:
        lock.release()


class Shares:
    """Places that addresses share; further requests are queued.

    An address gets another place while it holds fewer than half as many as are free, so that five
    addresses together, not one, can take eight places.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._changed = threading.Condition()
        self._held: Counter[str] = Counter()

    @contextmanager
    def one(self, name: str, patience_s: float) -> Iterator[None]:
        """Hold a place for `name` until the block ends.

        Raises RequestError "slow_down" if it gets none within `patience_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._may(name), patience_s):
                raise RequestError("slow_down", "busy.plays", ms=AGAIN_MS)
            self._free -= 1
            self._held[name] += 1
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                count_down(self._held, name)
                self._changed.notify_all()

    def _may(self, name: str) -> bool:
        return 2 * self._held[name] < self._free


class _QueueEntry:
    """Waiting thread, with the CPU time of its work so far; the least is served first."""

    __slots__ = ("number", "spent", "turn")

    def __init__(self, spent: float, number: int) -> None:
        self.spent = spent
        self.number = number
        self.turn = threading.Lock()
        self.turn.acquire()

    def __lt__(self, other: _QueueEntry) -> bool:
        return (self.spent, self.number) < (other.spent, other.number)


class Gate:
    """Gate with room for `at_once` threads; up to `waiting` more wait, each at most `patience_s`.

    A waiting request holds a thread of the server, so their number is bounded.  The work with the
    least CPU time is served first, and running work yields to it: a small piece of work waits for
    at most one time slice of a large one.
    """

    def __init__(
        self, at_once: int, waiting: int, patience_s: float, slice_s: float = SLICE_S
    ) -> None:
        self._here = threading.BoundedSemaphore(at_once + waiting)
        self._at_once = at_once
        self._patience_s = patience_s
        self._slice_s = slice_s
        self._lock = threading.Lock()
        self._free = at_once
        self._line: list[_QueueEntry] = []
        self._numbers = itertools.count()

    def counts(self) -> tuple[int, int]:
        """Return (number of threads inside, number of threads waiting)."""
        return self._at_once - self._free, len(self._line)

    @contextmanager
    def turn(
        self, resting: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> Iterator[Callable[[], None]]:
        """Hold a place until the block ends.  Raises RequestError "slow_down".

        Long work calls the yielded function from time to time, so that other threads run.
        `resting` then pauses the work of this thread in other processes.
        """
        with hold(self._here, 0):
            self._enter(0.0, self._patience_s)
            inside = True
            began = since = clock.processor()

            def give_way() -> None:
                nonlocal inside, since
                if not self._line:
                    return
                now = clock.processor()
                if now - since < self._slice_s:
                    return
                since = now
                if self._lets_pass(now - began):
                    inside = False
                    with resting():
                        self._enter(now - began, PASSED_S)
                    inside = True

            try:
                yield give_way
            finally:
                if inside:
                    self._leave()

    def _enter(self, spent: float, patience_s: float) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = _QueueEntry(spent, next(self._numbers))
            heapq.heappush(self._line, mine)
        if mine.turn.acquire(timeout=patience_s):
            return
        with self._lock:
            if mine in self._line:
                self._line.remove(mine)
                heapq.heapify(self._line)
                raise RequestError("slow_down", "busy.plays", ms=AGAIN_MS)
        # The place came at the last moment, and is ours.

    def _lets_pass(self, spent: float) -> bool:
        """Give the place to a waiting thread with less CPU time, if there is one."""
        with self._lock:
            if not self._line or self._line[0].spent >= spent:
                return False
            heapq.heappop(self._line).turn.release()
            return True

    def _leave(self) -> None:
        with self._lock:
            if self._line:
                heapq.heappop(self._line).turn.release()
            else:
                self._free += 1
