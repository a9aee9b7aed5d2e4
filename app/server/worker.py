"""Gunicorn's thread worker with deadlines, and with threads that no address can take alone."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, Final

from gunicorn.workers.gthread import ThreadWorker

from app.admission.deadlines import Deadline, Deadlines, hang_up
from app.admission.rates import count_down
from app.core.config import HANDS, SPARE_THREADS, Settings
from app.server.services import KEY, Services

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
            count_down(self._busy, name)


HEAD_S: Final = 10.0
"""From the first look at a connection until the head of its request is there."""
REQUEST_S: Final = 120.0
"""From the head of a request until its answer was taken; live connections have their own bounds."""


def address_of(conn: Any) -> str:
    """Return the peer of a connection; that of a Unix socket has no name."""
    client = conn.client
    return str(client[0]) if isinstance(client, tuple) else ""


class Worker(ThreadWorker):  # type: ignore[misc]
    """Gunicorn worker of one application, which ends its live connections when it stops."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.deadlines = Deadlines()
        self._heads: dict[int, Deadline] = {}
        """Of the request that a thread is reading or answering."""
        self._sockets: dict[int, Any] = {}

    @property
    def settings(self) -> Settings:
        found: Settings = self.app.settings
        return found

    def services(self) -> Services | None:
        """Return the application's services, once it was loaded."""
        loaded = self.app.callable
        return None if loaded is None else loaded.extensions[KEY]

    def get_thread_pool(self) -> Executor:
        most: int = self.settings.threads
        # Behind a proxy all connections are the proxy's; it is the proxy that counts addresses.
        each = most if self.settings.proxies else self.settings.sockets_per_address + HANDS
        return FairPool(most, min(each, most), address_of, lambda conn: hang_up(conn.sock)())

    def handle(self, conn: Any) -> Any:
        """Handle one request of a connection, in a thread of the pool."""
        thread = threading.get_ident()
        self._heads[thread] = self.deadlines.arm(HEAD_S, hang_up(conn.sock))
        self._sockets[thread] = conn.sock
        try:
            goes_on = super().handle(conn)
            if not goes_on:
                # A connection is closed once its last answer was read, or 2 s later.  Gunicorn
                # waits for that where it accepts connections; here it is the address's own thread.
                conn.close(graceful=True)
            return goes_on
        finally:
            self._heads.pop(thread).off()
            self._sockets.pop(thread)

    def has_head(self, request: Any) -> None:
        """Switch to the deadline of the body, or to none, once the head of a request is read."""
        thread = threading.get_ident()
        self._heads[thread].off()
        if not any(name == "UPGRADE" for name, _ in request.headers):
            cut = hang_up(self._sockets[thread])
            self._heads[thread] = self.deadlines.arm(REQUEST_S, cut)

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._hang_up()
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: Any) -> None:
        self._hang_up()
        super().handle_quit(sig, frame)

    def _hang_up(self) -> None:
        services = self.services()
        if services is not None:
            # In a thread of its own: a signal comes at any moment, even while a lock is held.
            threading.Thread(target=services.hang_up, daemon=True).start()


assert SPARE_THREADS >= HANDS
