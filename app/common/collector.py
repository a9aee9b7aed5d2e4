"""The collector of circles, in processes that make none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (50_000, 20, 50)
"""Objects made before memory is looked through for circles (`gc.set_threshold`): a run makes
hundreds of thousands, hardly one in a circle, and looking took half of the time of a question."""


def settle() -> None:
    """For a process that only serves: what is here by now stays, and need not be looked at."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def no_collector() -> Iterator[None]:
    """The states of a search make no circles: looking for some costs a fifth of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
