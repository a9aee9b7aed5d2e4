"""Plain processes for commands that count for minutes: Ctrl+C is for who started them alone."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def pool(jobs: int) -> ProcessPoolExecutor:
    """So many processes that start afresh and leave Ctrl+C to their parent."""
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_deaf)


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
