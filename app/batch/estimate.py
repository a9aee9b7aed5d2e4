"""Estimates of speed and length of a batch's runs, learnt from a few of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from app.batch import statistics
from app.batch.runners.plan import BatchPlan, sized
from app.batch.runners.rows import RunChunk
from app.batch.spec import Spec, check_chunks
from app.batch.wire import BatchCost
from app.core.refusals import RequestError
from engine.model.json_types import Json
from engine.study.batch import run_chunk
from engine.study.metrics import METRICS

PROBE_S: Final = 1.0
PROBE_PAIRS: Final = 8
PROBE_SHARE: Final = 0.02
"""Of a small batch: what is probed is played again."""
PROBE_EVENTS: Final = 200_000
"""Events of a run that a probe plays at most; of a longer run it plays only the beginning."""
TINY_S: Final = 1e-4
USUAL_SHARE: Final = 0.01
"""Of runs that break something: an estimate says how well such a share would be known."""


class CostProbe(NamedTuple):
    """Measured speed of a few runs, and the events expected of them.

    `events` are those that a run is expected to have, `most` those that it may have: of the run
    that has the most for what it may; both 0 where nothing is known of them.
    """

    runs_per_s: float
    events: int = 0
    most: int = 0


def probe(
    plan: BatchPlan,
    play: RunChunk,
    clock: Callable[[], float] = time.perf_counter,
    stop: Callable[[], bool] = lambda: False,
) -> CostProbe:
    """Play runs for a second by a clock, over a few profiles and cells in turn."""
    pairs = [(profile, cell) for cell in range(len(plan.scenarios)) for profile in plan.profiles]
    pairs = pairs[:: max(1, len(pairs) // PROBE_PAIRS)]
    enough = max(len(pairs), PROBE_SHARE * plan.total_runs)
    count, played, events, most = 0, 0.0, 0, 0
    seed, began = plan.first_seed, clock()
    until = time.perf_counter() + PROBE_S
    while True:
        for profile, cell in pairs:
            chunk = {"profile": profile, "cell": cell, "first_seed": seed, "count": 1}
            row = play({"scenario": plan.scenarios[cell], **chunk, "probe": PROBE_EVENTS})[0]
            count += 1
            played += _part(row)
            whole, may = row.get("whole", 0), row.get("most", 0)
            if whole * most >= events * may:
                events, most = whole, may
            if time.perf_counter() > until or count >= enough or stop():
                return CostProbe(played / max(clock() - began, TINY_S), events, most)
        seed += 1


def _part(row: Json) -> float:
    """Return the part of a run that the probe played; 1 for a whole one."""
    expected = min(row.get("whole", 0), row.get("most", 0))
    return float(row["events"] / expected) if expected > row["events"] else 1.0


def doubts(plan: BatchPlan, cost: CostProbe) -> list[RequestError]:
    """Return refusals for a batch with endless runs or too many chunks, by this estimate."""
    notes = []
    if cost.events > cost.most:
        shown = {"events": statistics.whole(cost.events), "most": statistics.whole(cost.most)}
        notes.append(RequestError("too_large", "batch.events", **shown))
    try:
        check_chunks(sized(plan, cost.runs_per_s))
    except RequestError as refusal:
        notes.append(refusal)
    return notes


class BatchEstimate(BatchCost):
    """Cost of a batch, and the refusals that it would meet."""

    notes: list[RequestError]


def estimate(spec: Spec, cores: int, play: RunChunk | None = None) -> BatchEstimate:
    """Play a few runs of the batch here: runs/s of one process, and seconds for all of it."""
    cells = tuple(cell.scenario.to_dict() for cell in spec.cells)
    plan = BatchPlan(cells, spec.profiles, spec.runs, spec.first_seed, 1, tuple(METRICS))
    cost = probe(plan, play or run_chunk)
    return {
        "runs_per_s": cost.runs_per_s,
        "cores": cores,
        "total_runs": plan.total_runs,
        "seconds": plan.total_runs / cost.runs_per_s / cores,
        "precision": statistics.precision(spec.runs, USUAL_SHARE),
        "bound": statistics.rule_of_three(spec.runs),
        "notes": doubts(plan, cost),
    }
