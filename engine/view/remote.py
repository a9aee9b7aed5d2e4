"""Remote storage as the stage draws it: its segments, and those that a leader can read."""

from __future__ import annotations

from engine.dataplane.remote_lineage import is_within, with_records
from engine.model.cluster import Cluster
from engine.model.remote_log import RemoteSegment, RemoteStore
from engine.view.wire import RemoteSegmentView, StoreView


def store_view(cluster: Cluster, store: RemoteStore) -> StoreView:
    """Return the segments of all partitions, as their current leaders see them."""
    shown = [
        _segment(cluster, tp, segment)
        for tp, remote in sorted(store.logs.items())
        for segment in remote.all_segments()
    ]
    return {"up": store.up, "slow": store.slow_ms, "segments": shown}


def _segment(cluster: Cluster, tp: int, segment: RemoteSegment) -> RemoteSegmentView:
    leader = cluster.current_leader(tp)
    log = None if leader is None else leader.log
    return {
        "p": tp,
        "first": segment.base,
        "last": segment.end - 1,
        "epochs": [list(entry) for entry in segment.epochs],
        "read": log is None or is_within(segment, log.leo, with_records(log.epochs)),
    }
