"""Does whoever asked still wait for the answer?  What takes long looks now and then."""

from __future__ import annotations

import contextlib
import contextvars
import socket
from collections.abc import Callable, Iterator

Gone = Callable[[], bool]

_asker: contextvars.ContextVar[Gone | None] = contextvars.ContextVar("asker", default=None)


def has_hung_up(sock: socket.socket) -> bool:
    """Has the other side closed this connection?  Nothing is read from it."""
    try:
        return not sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except (BlockingIOError, InterruptedError):
        return False
    except (OSError, ValueError):
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
