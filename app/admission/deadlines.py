"""Deadlines for connections and other work; one thread watches all of them."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator

Cut = Callable[[], None]


class Deadline:
    """One deadline; `off` cancels it."""

    __slots__ = ("_cut", "at")

    def __init__(self, at: float, cut: Cut) -> None:
        self.at = at
        self._cut: Cut | None = cut

    def off(self) -> None:
        self._cut = None

    def strike(self) -> None:
        cut, self._cut = self._cut, None
        if cut is not None:
            cut()


class Deadlines:
    """Set of deadlines, safe for threads.

    Its own thread starts with the first deadline, and so after any fork.
    """

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._next: list[tuple[float, int, Deadline]] = []
        self._order = itertools.count()
        self._thread: threading.Thread | None = None

    def arm(self, seconds: float, cut: Cut) -> Deadline:
        """Call `cut` after `seconds`, unless the deadline is off by then."""
        deadline = Deadline(time.monotonic() + seconds, cut)
        with self._news:
            heapq.heappush(self._next, (deadline.at, next(self._order), deadline))
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="deadlines", daemon=True)
                self._thread.start()
            self._news.notify()
        return deadline

    @contextlib.contextmanager
    def within(self, seconds: float, cut: Cut) -> Iterator[None]:
        """Call `cut` if the block takes longer than `seconds`."""
        deadline = self.arm(seconds, cut)
        try:
            yield
        finally:
            deadline.off()

    def _watch(self) -> None:
        while True:
            with self._news:
                while not self._next or self._next[0][0] > time.monotonic():
                    wait_s = self._next[0][0] - time.monotonic() if self._next else None
                    self._news.wait(wait_s)
                _, _, deadline = heapq.heappop(self._next)
            deadline.strike()


def stop_reading(sock: socket.socket) -> Cut:
    """Return a function that stops reading; requests read so far are still answered."""
    return lambda: _shut(sock, socket.SHUT_RD)


def hang_up(sock: socket.socket) -> Cut:
    """Return a function that ends the connection for readers and writers."""
    return lambda: _shut(sock, socket.SHUT_RDWR)


def _shut(sock: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):  # it ended by itself
        sock.shutdown(how)
