"""Does whoever asked still wait for the answer?  What takes long looks now and then."""

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
    """Has the other side closed this connection?

    Nothing is read from it, and nobody waits: a socket with a timeout would wait for it in `recv`,
    even if told not to.
    """
    try:
        poll = select.poll()
        poll.register(sock, _GONE)
        return bool(poll.poll(0))
    except (OSError, ValueError):  # it is closed on this side
        return True


@contextlib.contextmanager
def asking(gone: Gone | None) -> Iterator[None]:
    """What this thread does in the block is done for one who may hang up."""
    token = _asker.set(gone)
    try:
        yield
    finally:
        _asker.reset(token)


def is_gone() -> bool:
    """Has the one hung up for whom this thread works?  False where nobody in particular asked."""
    gone = _asker.get()
    return gone is not None and gone()
