"""Functions that worker processes run in tests.  Each imports this file, so it imports little."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final

FIRST: Final = {"card": {}, "ways": [], "distances": [], "cancelled": False, "missing": "fell"}


def falls(line: Any) -> None:
    line.recv()
    os._exit(3)


def answers_and_falls(line: Any) -> None:
    line.recv()
    line.send({"first": FIRST})
    os._exit(3)


def same(what: object) -> object:
    return what


def number() -> int:
    """Return the number of this process."""
    return os.getpid()


def waits(seconds: float, place: str = "") -> None:
    """Writes its number, and waits."""
    if place:
        Path(place).write_text(str(os.getpid()))
    time.sleep(seconds)


def works(seconds: float) -> float:
    """Takes so long of a processor; when it was done."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return time.monotonic()


def eats(mib: int) -> int:
    return len(bytearray(mib << 20))


def errs() -> None:
    raise KeyError("what is not there")
