"""A long search in a terminal: its seconds, its progress, and Ctrl+C."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, Protocol

BOUND_MET: Final = 3
"""The exit code where a bound or Ctrl+C ended a search."""
EVERY_S: Final = 0.5
"""Seconds between two reports of progress to a terminal; to a file, 20 times as long."""


class HowFar(Protocol):
    """The progress of a search."""

    @property
    def depth(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def generated(self) -> int: ...


class BatchWatch:
    """Monitor that ends a search at its time limit or on Ctrl+C, and reports its progress."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.interrupted = False
        self._began = time.process_time()
        self._live = sys.stderr.isatty()
        self._told = time.monotonic()
        self._width = 0

    def again(self) -> None:
        """Restart the time limit."""
        self._began = time.process_time()

    @property
    def cpu_s(self) -> float:
        return time.process_time() - self._began

    def __call__(self, progress: HowFar) -> bool:
        now = time.monotonic()
        if now - self._told >= EVERY_S * (1 if self._live else 20):
            self._told = now
            self._tell(
                f"level {progress.depth}: {progress.distinct:,} states, "
                f"{progress.generated:,} generated, {self.cpu_s:,.0f} s"
            )
        return self.interrupted or (self.seconds is not None and self.cpu_s > self.seconds)

    def _tell(self, line: str) -> None:
        if self._live:
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def wipe(self) -> None:
        """Clear the progress line on the terminal for the answer."""
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0


@contextmanager
def watching(seconds: float | None) -> Iterator[BatchWatch]:
    """Handle Ctrl+C: once ends with a partial answer, twice at once."""
    watch = BatchWatch(seconds)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if watch.interrupted:
            raise KeyboardInterrupt
        watch.interrupted = True

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, before)
        watch.wipe()
