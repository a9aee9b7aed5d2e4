"""Watchdog that ends the processes of a laboratory and removes its files.

It acts when the laboratory has ended, even by kill -9.

It runs as a program of its own and imports nothing of Highwater.  The laboratory writes one line a
process to its standard input: `+PID` when the process was started (each leads a process group),
`-PID` when it has ended.  At the end of the input the watchdog kills the processes that still run.

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
    """Read `lines` to their end, then kill the remaining processes and remove the directory."""
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
