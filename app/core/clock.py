"""Clocks of the server, in seconds."""

from __future__ import annotations

import threading
import time

_elsewhere = threading.local()
# In a browser there is no clock of a thread: the worker does nothing else meanwhile.
_thread_time = getattr(time, "thread_time", time.perf_counter)


def monotonic() -> float:
    """Return the seconds since some moment; it never goes back."""
    return time.monotonic()


def processor() -> float:
    """Return the processor seconds of this thread and of the processes that work for it."""
    return float(_thread_time()) + getattr(_elsewhere, "s", 0.0)


def spend(seconds: float) -> None:
    """Add seconds that another process has worked for this thread."""
    _elsewhere.s = getattr(_elsewhere, "s", 0.0) + seconds


def wall() -> float:
    """Return the seconds since 1970, by a clock that the operator may set."""
    return time.time()
