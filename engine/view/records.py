"""Records as the stage shows them: by offset, with what clients know of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.model.log import Batch
from engine.replay.view_cache import RECORDS_SHOWN, ViewCache
from engine.sim.simulation import Simulation
from engine.view.wire import Record


def records_of(
    sim: Simulation, tp: int, batches: Sequence[Batch], recall: ViewCache
) -> list[Record]:
    """Return the first records of these batches as the stage shows them."""
    return record_views(sim, tp, batches[:RECORDS_SHOWN], recall.acked(sim, tp))[:RECORDS_SHOWN]


def record_views(
    sim: Simulation, tp: int, batches: Sequence[Batch], is_acked: Callable[[str], bool]
) -> list[Record]:
    seen = sim.ledger.seen[tp]
    return [
        {
            "o": batch.base + index,
            "e": batch.epoch,
            "id": value,
            "acked": is_acked(value),
            "read": batch.base in seen,
        }
        for batch in batches
        for index, value in enumerate(batch.values)
    ]
