"""What only the stage draws beside the view; no digest of a run sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from engine.model.log import Batch
from engine.model.messages import HEARTBEAT, HEARTBEAT_R, METADATA_FETCH
from engine.show.view import Json, node_name, records_of
from engine.sim.simulation import Simulation

Cut = tuple[int, int, int, tuple[Batch, ...]]
"""(step, broker, partition, batches) of one truncation."""

BEATS: Final = frozenset((HEARTBEAT, HEARTBEAT_R, METADATA_FETCH))
"""Messages that come and go all the time, drawn as dots and only when asked for."""


def dress(sim: Simulation, shown: Json, older: Iterable[Cut] = ()) -> Json:
    """The view with all that the stage wants; `older`: cuts of steps since the last moment."""
    shown["controller"]["sessionMs"] = sim.configs.session_timeout_ms
    shown["beats"] = [
        {"id": m.id, "from": node_name(m.src), "to": node_name(m.dst), "sent": m.sent, "due": m.due}
        for m in sim.network.under_way()
        if m.kind in BEATS
    ]
    for part in shown["partitions"]:
        for broker, replica in part["replicas"].items():
            disk = sim.brokers[int(broker)].disks.get(part["p"])
            replica["recovery"] = 0 if disk is None else disk.recovery_checkpoint
    for _, broker, tp, batches in older:
        _haunt(sim, shown["partitions"][tp]["replicas"].get(str(broker)), tp, batches)
    _queue(shown["messages"])
    return shown


def _haunt(sim: Simulation, replica: Json | None, tp: int, batches: tuple[Batch, ...]) -> None:
    """Ghosts stay until the next moment, as long as nothing stands in their place."""
    if replica is None:
        return
    taken = {ghost["o"] for ghost in replica["cut"]}
    replica["cut"] += [
        {**ghost, "old": True}
        for ghost in records_of(sim, tp, batches)
        if ghost["o"] >= replica["leo"] and ghost["o"] not in taken
    ]


def _queue(messages: list[Json]) -> None:
    """Which message goes before another on its connection: nothing overtakes there."""
    first: dict[tuple[Any, Any], int] = {}
    for m in messages:
        key = (m["from"], m["to"])
        if key in first:
            m["behind"] = first[key]
        else:
            first[key] = m["id"]
