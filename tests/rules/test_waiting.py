"""S-5, S-6: when a fetch that waits at its leader is answered."""

from __future__ import annotations

import pytest

from engine.dataplane import purgatory, serving
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import NO_EPOCH, FetchPartition, FetchRequest
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

MUCH = 1_000_000
"""More bytes than there ever are."""


def leader(*lines: str, profile: str = "K39", **configs: int) -> Process:
    scenario = Scenario.from_dict({"title": "x", "brokers": 2, "configs": configs})
    return play_all(Run(scenario, profile, 0, lines)).brokers[1].running


def fetch(replica: int, offset: int, last_epoch: int = NO_EPOCH, least: int = MUCH) -> FetchRequest:
    wanted = FetchPartition(0, offset, last_epoch, NO_EPOCH, 0)
    src = replica if replica >= 0 else -11
    return FetchRequest(src, 1, 1, (wanted,), replica, -1, 500, least, 9)


@pytest.mark.parametrize(
    ("last_epoch", "profile", "answered"),
    [(0, "K39", True), (NO_EPOCH, "K39", False), (0, "Z20", False)],
)
def test_a_fetch_is_answered_once_the_logs_are_seen_to_part(
    last_epoch: int, profile: str, answered: bool
) -> None:
    """S-6 H: epoch 0 ended at 1, the follower asks from 2 on; before 2.7 nobody looks at that."""
    broker = leader("produce a b", "settle", "settle", profile=profile)
    asked = fetch(2, 2, last_epoch)
    assert not purgatory.fetch_is_ready(broker, asked, 0)
    broker.replicas[0].log.epochs.assign(1, 1)
    assert purgatory.fetch_is_ready(broker, asked, 0) is answered


def test_a_new_segment_of_which_nothing_may_be_read_answers_nobody() -> None:
    """S-6 G: bytes are counted within a segment; a consumer's end at the high watermark."""
    for lines, answered in ((), False), (("settle", "settle"), True):
        lines = ("produce a b", "settle", "settle", "produce c acks=1", *lines)
        broker = leader(*lines, **{"segment.records": 2})
        assert broker.replicas[0].log.segments == [0, 2]
        assert broker.replicas[0].log.hw == 2 + answered
        assert purgatory.fetch_is_ready(broker, fetch(-1, 1), 0, (0,)) is answered


@pytest.mark.parametrize(("least", "told"), [(1, []), (2, [0])])
def test_a_fetch_that_waits_for_any_byte_is_not_told_to_lack_some(
    least: int, told: list[int]
) -> None:
    """S-5."""
    broker, out = leader("produce a", "settle", "settle"), Effects(told=True)
    serving.on_fetch_request(broker, fetch(-1, 1, least=least), out)
    assert len(broker.replicas[0].parked) == 1
    assert [cue.old for cue in out.cues or () if cue.rule == "S-5.min_bytes"] == told
