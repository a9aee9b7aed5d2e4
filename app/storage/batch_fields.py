"""Fields of a batch as they are stored; without SQLAlchemy, which a browser does not have."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NotRequired, TypedDict

from engine.model.json_types import Json


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


class StoredCell(TypedDict):
    """Combination of varied values; `digest` of its scenario, `chunk_runs` once it was measured."""

    values: dict[str, str]
    label: str
    digest: NotRequired[str]
    chunk_runs: NotRequired[int]


class MetricSummary(TypedDict):
    """Metric of the `n` runs that have it; `quantiles` at those of `runners.summary`."""

    n: int
    sum: int
    positive: int
    min: int | None
    max: int | None
    quantiles: list[int] | None


class BatchCause(TypedDict):
    """Number of runs that broke this invariant first, and applied this rule last."""

    profile: str
    invariant: str
    rule: str
    runs: int


class StoredPair(TypedDict):
    """Counts of the seeds that two sides (profile, cell) both played."""

    a: tuple[str, int]
    b: tuple[str, int]
    invariant: str
    neither: int
    only_a: int
    only_b: int
    both: int


class BatchAbout(TypedDict, total=False):
    """Fields of some kinds of batches.

    Those that stop by themselves: `within` percent.  Futures: `run` to `most`.  The advisor's:
    `setting` and `failures`, of trees with `cycles`, the `effort` of the pilot and the `leaves`
    that lost.  Of a hunt: `promised`, which counts broken promises only.  All that are summarised:
    `causes` and `pairs`.
    """

    within: int
    promised: bool
    run: str
    invariant: str
    presents: list[Json]
    most: int
    setting: dict[str, str]
    failures: dict[str, int]
    window_ms: int
    cycles: bool
    effort: dict[str, float]
    leaves: dict[str, Json]
    causes: list[BatchCause]
    pairs: list[StoredPair]
