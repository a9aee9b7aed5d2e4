"""Threads shared by addresses: further connections of the same address are queued."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, Final

WAITING_EACH: Final = 4
"""Tasks of a name that may wait, as a multiple of those it may run; further ones are dropped."""

Task = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...]]


class FairPool(Executor):
    """Thread pool that runs at most `each` tasks of one name at a time.

    Of all names together it runs as many as there are threads.  A task for which the queue is full
    is dropped: `drop` gets its arguments, and it ends at once with the result False.
    """

    def __init__(
        self,
        threads: int,
        each: int,
        name_of: Callable[..., str],
        drop: Callable[..., None] = lambda *_: None,
    ) -> None:
        self._pool = ThreadPoolExecutor(threads, "serving")
        self._each = each
        self._name_of = name_of
        self._drop = drop
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._waiting: defaultdict[str, deque[Task]] = defaultdict(deque)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        name = self._name_of(*args)
        task: Task = (Future(), lambda *given: fn(*given, **kwargs), args)
        with self._lock:
            if self._busy[name] < self._each:
                self._busy[name] += 1
                self._pool.submit(self._run, name, task)
                return task[0]
            line = self._waiting[name]
            if len(line) < WAITING_EACH * self._each:
                line.append(task)
                return task[0]
        self._drop(*args)
        task[0].set_result(False)
        return task[0]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            for line in self._waiting.values():
                for future, _, _ in line:
                    future.cancel()
            self._waiting.clear()
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _run(self, name: str, task: Task) -> None:
        future, fn, args = task
        try:
            if future.set_running_or_notify_cancel():
                future.set_result(fn(*args))
        except BaseException as error:
            future.set_exception(error)
        finally:
            self._next(name)

    def _next(self, name: str) -> None:
        with self._lock:
            line = self._waiting.get(name)
            if line:
                self._pool.submit(self._run, name, line.popleft())
                return
            self._waiting.pop(name, None)
            self._busy[name] -= 1
            if not self._busy[name]:
                del self._busy[name]
