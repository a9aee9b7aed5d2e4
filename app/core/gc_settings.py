"""Tuning of Python's cyclic garbage collector, for processes that make no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (50_000, 20, 50)
"""Objects made before memory is looked through for circles (`gc.set_threshold`): a run makes
hundreds of thousands, hardly one in a circle, and looking took half of the time of a question."""


def settle() -> None:
    """Freeze the objects of a process that only serves, so that collections skip them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def no_collector() -> Iterator[None]:
    """Pause garbage collection: a fifth of a search, or of a start, that finds no cycles."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
