"""Watchdog that ends the processes of a laboratory and removes its files.

It acts once the laboratory itself has ended, however it ended: this program outlives even a kill -9
of the other.

It is run by itself, with nothing of Highwater imported.  Its input is one line a process: `+PID`
when one was started (each leads a group of its own), `-PID` when it is over.  The end of the input
means that they are no longer needed.

usage: python watchdog.py DIRECTORY (- to leave the files)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable

PATIENCE_S = 10.0
BETWEEN_S = 0.1


def watch(lines: Iterable[str], directory: str) -> None:
    """Read to the end of `lines`, then end what still runs and remove the directory."""
    running: set[int] = set()
    for line in lines:
        sign, number = line[:1], line[1:].strip()
        if number.isdigit():
            (running.add if sign == "+" else running.discard)(int(number))
    for pid in running:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    if directory == "-":
        return
    end = time.monotonic() + PATIENCE_S
    while os.path.exists(directory) and time.monotonic() < end:
        # A process that is just ending may still write.
        shutil.rmtree(directory, ignore_errors=True)
        time.sleep(BETWEEN_S)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    watch(sys.stdin, sys.argv[1])
