"""Waiting in tests for what other processes bring about: never for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 60.0
LOOKS_EVERY_S: Final = 0.01


def until(ready: Callable[[], object], every_s: float = LOOKS_EVERY_S) -> None:
    """Looks again and again, and fails where it takes too long."""
    end = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < end, f"not within {PATIENCE_S:.0f} s"
        time.sleep(every_s)
