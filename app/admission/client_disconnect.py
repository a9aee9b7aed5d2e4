"""Checks, during long work, that the client still waits for the response."""

from __future__ import annotations

import contextlib
import contextvars
import select
import socket
from collections.abc import Callable, Iterator
from typing import Final

Gone = Callable[[], bool]

_GONE: Final = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)

_asker: contextvars.ContextVar[Gone | None] = contextvars.ContextVar("asker", default=None)


def has_hung_up(sock: socket.socket) -> bool:
    """Check whether the other side has closed this connection.

    Nothing is read from it, and the call does not block: a socket with a timeout would wait in
    `recv`, even with MSG_DONTWAIT.
    """
    try:
        poll = select.poll()
        poll.register(sock, _GONE)
        return bool(poll.poll(0))
    except (OSError, ValueError):  # it is closed on this side
        return True


@contextlib.contextmanager
def asking(hung_up: Gone | None) -> Iterator[None]:
    """Let this thread's work in the block belong to a client that may hang up."""
    token = _asker.set(hung_up)
    try:
        yield
    finally:
        _asker.reset(token)


def is_gone() -> bool:
    """Check whether the client of this thread has hung up; False where there is none."""
    gone = _asker.get()
    return gone is not None and gone()
