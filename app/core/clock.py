"""Clocks of the server, in one place, so that a storm can use virtual time.

`python3 -m tests.storm` installs a clock that moves only on its command; by default it is the
machine's.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Interface of a clock; all times are seconds."""

    def monotonic(self) -> float:
        """Return the seconds since some moment; it never goes back."""

    def processor(self) -> float:
        """Return the processor seconds of this thread and of the processes that work for it."""

    def spend(self, seconds: float) -> None:
        """Add seconds that another process has worked for this thread."""

    def wall(self) -> float:
        """Return the seconds since 1970, by a clock that the operator may set."""


class MachineClock:
    """The machine's own clocks."""

    _elsewhere = threading.local()
    # In a browser there is no clock of a thread: the worker does nothing else meanwhile.
    _thread_time = staticmethod(getattr(time, "thread_time", time.perf_counter))

    def monotonic(self) -> float:
        return time.monotonic()

    def processor(self) -> float:
        return float(self._thread_time()) + getattr(self._elsewhere, "s", 0.0)

    def spend(self, seconds: float) -> None:
        self._elsewhere.s = getattr(self._elsewhere, "s", 0.0) + seconds

    def wall(self) -> float:
        return time.time()


_clock: Clock = MachineClock()


def install(clock: Clock) -> None:
    """Use this clock for everything in this process from now on."""
    global _clock
    _clock = clock


def monotonic() -> float:
    return _clock.monotonic()


def processor() -> float:
    return _clock.processor()


def spend(seconds: float) -> None:
    _clock.spend(seconds)


def wall() -> float:
    return _clock.wall()
