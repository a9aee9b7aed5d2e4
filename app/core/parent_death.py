"""Processes that end with their parent, however the parent ends."""

from __future__ import annotations

import ctypes
import signal
import sys
from typing import Final

PARENT_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of Linux."""


def ends_with_parent() -> None:
    """Ask the kernel to kill this process once the thread that started it is gone (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
