"""Doors to what costs: so many at once, some may wait, and nobody waits for long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.common.refusals import Refusal
from app.common.words import SENTENCES

AGAIN_MS = 3000
"""After so long it is worth asking again."""

SENTENCES.update(
    {
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

    Who waits holds a thread of the server, so not everybody may.
    """

    def __init__(self, at_once: int, waiting: int, patience_s: float) -> None:
        self._through = threading.BoundedSemaphore(at_once)
        self._here = threading.BoundedSemaphore(at_once + waiting)
        self._patience_s = patience_s

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A place behind the door until the block ends.  Raises Refusal "slow_down"."""
        with held(self._here, 0), held(self._through, self._patience_s):
            yield
