"""Fields of a batch as they are stored; without SQLAlchemy, which a browser does not have."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class BatchState(StrEnum):
    """State of a batch, as columns, JSON, words, templates and scripts have it."""

    QUEUED = "queued"
    PROBING = "probing"
    STARTING = "starting"
    RUNNING = "running"
    SUMMARISING = "summarising"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


ENDED: Final = (
    BatchState.DONE,
    BatchState.CANCELLED,
    BatchState.FAILED,
    BatchState.INTERRUPTED,
)
ACTIVE: Final = tuple(state for state in BatchState if state not in ENDED)
