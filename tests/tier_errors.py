"""Wrong rules of tiered storage: each breaks a promise about the remote log."""

from __future__ import annotations

from typing import Any

import pytest

from engine.dataplane import local_retention, tier_state, tiering
from engine.scenarios.scenario import Scenario

SETTINGS = {
    "remote.storage.enable": True,
    "segment.records": 2,
    "local.retention.bytes": 2000,
    "remote.log.manager.task.interval.ms": 500,
    "log.retention.check.interval.ms": 1000,
}
TIERED = Scenario.from_dict({"title": "x", "brokers": ["A", "B", "C"], "configs": SETTINGS})
FILLED = "produce a b; settle; produce c d; settle; produce e f; settle; produce g; settle; "
COPIED = FILLED + "advance 1s"
FAILING = FILLED + "store down; advance 1s"
REJOINED = (
    "produce a b; settle; kill C; detect C; produce c d; settle; produce e f; settle; "
    "kill A; detect A; produce g h; settle; produce i; settle; advance 1s; restart C; fetch C; "
    "settle"
)
UNCOMMITTED = (
    "produce a b acks=1; hold B->A Fetch; hold C->A Fetch; produce c d acks=1; produce e acks=1; "
    "advance 1s"
)


def anything_is_deleted_locally(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-3: a segment goes without being in remote storage."""
    right = local_retention._delete_segments

    def wrong(log: Any, breaches: Any, highest: int, rolls: bool) -> None:
        right(log, breaches, 1 << 40, rolls)

    monkeypatch.setattr(local_retention, "_delete_segments", wrong)


def a_follower_keeps_the_last_epoch_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-5: the epochs before the last one of the segment are forgotten."""
    right = tier_state._restore

    def wrong(replica: Any, segment: Any, remote: Any) -> None:
        right(replica, segment, remote)
        cache = replica.log.epochs
        cache.epochs, cache.starts = [99], [0]

    monkeypatch.setattr(tier_state, "_restore", wrong)


def every_closed_segment_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-1: the high watermark does not matter."""

    def wrong(log: Any, first: int) -> list[tuple[int, int]]:
        pairs = zip(log.segments, log.segments[1:], strict=False)
        return [(base, end) for base, end in pairs if end > first]

    monkeypatch.setattr(tiering, "closed_segments", wrong)
