"""Plain worker processes for work that takes minutes.

Only their parent handles Ctrl+C, and they end with it however it ends.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import active_children, get_context
from typing import Any, Self, TypeVar

from app.core.parent_death import ends_with_parent

T = TypeVar("T")


def pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of `jobs` processes that ignore Ctrl+C.

    They end with the thread that uses the pool first.  They are spawned: a server has threads, and
    a fork would copy their locks.
    """
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    ends_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class BatchWorkers:
    """Pool of such processes for work with a deadline.

    Tasks still running at its end are not waited for, and later tasks get new processes.
    """

    def __init__(self, jobs: int, make: Callable[[int], Executor] = pool) -> None:
        self._jobs, self._make = jobs, make
        self._others = {child.pid for child in active_children()}
        self._pool: Executor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failed: object) -> None:
        self.stop()

    def submit(self, act: Callable[..., T], *args: Any) -> Future[T]:
        self._pool = self._pool or self._make(self._jobs)
        return self._pool.submit(act, *args)

    def stop(self) -> None:
        if self._pool is None:
            return
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in active_children():
            if child.pid not in self._others:
                child.terminate()
        self._pool.shutdown()
        self._pool = None
