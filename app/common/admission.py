"""Doors to what costs: so many at once, some may wait, and nobody waits for long."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.common.refusals import Refusal
from app.common.words import SENTENCES

AGAIN_MS = 3000
"""After so long it is worth asking again."""

SENTENCES.update(
    {
        "cpu.build": (
            "To play this run takes more than {s} seconds of a processor here: make it shorter, or "
            "run it at scale.",
            "在此播放该运行需要超过 {s} 秒的处理器时间：请缩短它，或改用大规模运行。",
        ),
        "busy.plays": (
            "The server is busy playing other runs; try again in {ms} ms.",
            "服务器正忙于其他运行；请在 {ms} ms 后再试。",
        ),
    }
)


@contextmanager
def held(lock: threading.Lock | threading.Semaphore, patience_s: float) -> Iterator[None]:
    """The lock until the block ends.  Raises Refusal "slow_down" where it takes longer to get."""
    if not lock.acquire(timeout=patience_s):
        raise Refusal("slow_down", "busy.plays", ms=AGAIN_MS)
    try:
        yield
    finally:
        lock.release()


class Gate:
    """Lets `at_once` threads through; up to `waiting` more wait, each at most `patience_s`.

    Who waits holds a thread of the server, so not everybody may.  They come through in the order in
    which they came, and who is through may let them pass.
    """

    def __init__(self, at_once: int, waiting: int, patience_s: float) -> None:
        self._here = threading.BoundedSemaphore(at_once + waiting)
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._free = at_once
        self._line: deque[threading.Lock] = deque()

    @contextmanager
    def turn(self) -> Iterator[Callable[[], None]]:
        """A place behind the door until the block ends.  Raises Refusal "slow_down".

        What it yields is called from time to time by whoever takes long: if others wait, they go
        first, so that a short question never waits for the whole of a long one.
        """
        with held(self._here, 0):
            self._enter(self._patience_s)
            inside = [True]

            def give_way() -> None:
                if self._line:
                    inside[0] = False
                    self._leave()
                    self._enter(-1)
                    inside[0] = True

            try:
                yield give_way
            finally:
                if inside[0]:
                    self._leave()

    def _enter(self, patience_s: float) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = threading.Lock()
            mine.acquire()
            self._line.append(mine)
        if mine.acquire(timeout=patience_s):
            return
        with self._lock:
            if mine in self._line:
                self._line.remove(mine)
                raise Refusal("slow_down", "busy.plays", ms=AGAIN_MS)
        # The place came at the last moment, and is ours.

    def _leave(self) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().release()
            else:
                self._free += 1


class CpuBudget:
    """What one piece of work may take of a processor, in seconds of its own thread."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.thread_time) -> None:
        self._seconds = seconds
        self._clock = clock
        self._began = clock()

    def check(self) -> None:
        """Raises Refusal "too_large" once it is spent."""
        if self._clock() - self._began > self._seconds:
            raise Refusal("too_large", "cpu.build", s=round(self._seconds))
