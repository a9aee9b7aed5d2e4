"""INV-28: a quota holds back no in-sync follower."""

from __future__ import annotations

from collections.abc import Iterator

from engine.dataplane.partition_fetch_state import lag_of
from engine.model.broker import Process
from engine.model.quotas import Quotas


def held_in_sync(broker: Process, quotas: Quotas, known: int) -> Iterator[int]:
    """Yield the in-sync followers that this broker's quotas held back since decision `known`.

    Such a follower is one of its own, or the broker itself as the follower of another leader.
    """
    for (tp, follower), number in quotas.held.items():
        if number <= known:
            continue
        if follower != broker.id:
            in_sync = follower in broker.replicas[tp].isr
        else:
            lag = lag_of(broker, tp)
            in_sync = lag is not None and lag <= 0
        if in_sync:
            yield follower
