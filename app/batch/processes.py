"""Plain processes for what counts for minutes: Ctrl+C is for who started them alone, and they end
with it however it ends."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import active_children, get_context
from typing import Any, Self, TypeVar

from app.common.dying import ends_with_parent

T = TypeVar("T")


def pool(jobs: int) -> ProcessPoolExecutor:
    """So many processes that leave Ctrl+C to their parent, and end with the thread that asks them
    first.  They start afresh: a server has threads, and a fork would copy their locks."""
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    ends_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Workers:
    """Such processes for work that has an end: what is still played then is not waited for, and
    what is asked for later starts afresh."""

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
        """Nothing is played any more."""
        if self._pool is None:
            return
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in active_children():
            if child.pid not in self._others:
                child.terminate()
        self._pool.shutdown()
        self._pool = None
