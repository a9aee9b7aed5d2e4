"""S-5, S-6, P-4: when what waits at a leader is answered, and what does not wait."""

from __future__ import annotations

import pytest

from engine.dataplane import purgatory, serving, watermark
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import NONE, NOT_LEADER_OR_FOLLOWER
from engine.model.log import Batch
from engine.model.messages import (
    NO_EPOCH,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ProduceResponse,
)
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

MUCH = 1_000_000
"""More bytes than there ever are."""


def leader(*lines: str, profile: str = "K39", segment: int = 1_000) -> Process:
    configs = {"segment.records": segment}
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
    """S-6 H: epoch 0 ended at 1, the follower asks from 2 on; before 2.7 no check looks at that."""
    broker = leader("produce a b", "settle", "settle", profile=profile)
    asked = fetch(2, 2, last_epoch)
    assert not purgatory.fetch_is_ready(broker, asked, 0)
    broker.replicas[0].log.epochs.assign(1, 1)
    assert purgatory.fetch_is_ready(broker, asked, 0) is answered


def test_an_unreadable_new_segment_answers_no_fetch() -> None:
    """S-6 G: bytes are counted within a segment; a consumer's end at the high watermark."""
    for lines, answered in ((), False), (("settle", "settle"), True):
        lines = ("produce a b", "settle", "settle", "produce c acks=1", *lines)
        broker = leader(*lines, segment=2)
        assert broker.replicas[0].log.segments == [0, 2]
        assert broker.replicas[0].log.hw == 2 + answered
        assert purgatory.fetch_is_ready(broker, fetch(-1, 1), 0, (0,)) is answered


def test_a_fetch_waits_on_while_the_log_grows_in_its_last_segment() -> None:
    """S-6 G: bytes are counted from where the log ended when the fetch began to wait."""
    broker, out = leader("produce a b", "produce c", segment=2), Effects()
    replica = broker.replicas[0]
    assert replica.log.segments == [0, 2]
    serving.on_fetch_request(broker, fetch(2, 3), out)
    for offset, waiting in ((3, 1), (4, 0)):
        replica.log.append(Batch(offset, 0, ("r",)))
        purgatory.wake_fetch(broker, replica, out)
        assert len(broker.parked) == waiting
    assert replica.log.segments == [0, 2, 4]


@pytest.mark.parametrize(("segment", "answered"), [(2, True), (3, False)])
def test_large_fetches_are_answered_once_the_log_rolls_a_segment(
    segment: int, answered: bool
) -> None:
    """S-6 G: however little there is; within one segment it goes on waiting."""
    lines = ("produce a b", "settle", "settle")
    broker, out = leader(*lines, segment=segment), Effects()
    replica = broker.replicas[0]
    serving.on_fetch_request(broker, fetch(2, 2), out)
    assert out.sends == []
    replica.log.append(Batch(2, 0, ("c",)))
    purgatory.wake_fetch(broker, replica, out)
    answers = [one for one in out.sends if isinstance(one, FetchResponse)]
    assert [one.partitions[0].batches[0].values for one in answers] == [("c",)] * answered


@pytest.mark.parametrize(("least", "told"), [(1, []), (2, [0])])
def test_a_fetch_that_waits_for_any_byte_is_not_told_to_lack_some(
    least: int, told: list[int]
) -> None:
    """S-5."""
    broker, out = leader("produce a", "settle", "settle"), Effects(cues=True)
    serving.on_fetch_request(broker, fetch(-1, 1, least=least), out)
    for times in (1, 2):
        assert len(broker.parked) == 1
        assert [cue.old for cue in out.cues or () if cue.rule == "S-5.min_bytes"] == told * times
        purgatory.wake_fetch(broker, broker.replicas[0], out)


def test_a_produce_is_answered_when_another_append_moves_the_mark() -> None:
    """L-3.12, P-4."""
    broker, out = leader("produce a acks=all"), Effects()
    replica = broker.replicas[0]
    assert [one.required for one in replica.waiting] == [1]
    replica.log.hw = 1
    purgatory.after_append(broker, replica, True, out)
    (answer,) = [one for one in out.sends if isinstance(one, ProduceResponse)]
    assert (answer.error, replica.waiting) == (NONE, [])


@pytest.mark.parametrize(("mark", "moved"), [(2, False), (1, True), (0, True), (9, False)])
def test_a_follower_says_whether_its_mark_is_another(mark: int, moved: bool) -> None:
    """H-4, H-6: only then those that wait there are looked at again.  Its log ends at 2."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 2})
    sim = play_all(Run(scenario, "K39", 0, ("produce a b", "settle", "settle")))
    replica = sim.brokers[2].replicas[0]
    assert (replica.log.hw, replica.log.leo) == (2, 2)
    assert watermark.follow(replica, mark, sim.out) is moved
    assert replica.log.hw == min(mark, 2)


def test_refused_fetches_get_no_offsets() -> None:
    """S-4, KIP-903: the leader knows a newer incarnation of the follower."""
    broker, out = leader("produce a to 1", "settle"), Effects()
    asked = fetch(2, 0)
    asked.replica_epoch = broker.peers[2].broker_epoch
    broker.peers[2].broker_epoch += 1
    serving.on_fetch_request(broker, asked, out)
    (answer,) = [one for one in out.sends if isinstance(one, FetchResponse)]
    (told,) = answer.partitions
    assert (told.error, told.hw, told.log_start) == (NOT_LEADER_OR_FOLLOWER, -1, -1)
    assert not told.batches


def test_consumers_are_redirected_to_broker_0_at_once() -> None:
    """S-5, C-8: where there is nothing to read, too."""
    brokers = [{"id": 0, "rack": "b"}, {"id": 1, "rack": "a"}]
    data = {"title": "x", "brokers": brokers, "partitions": [[1, 0]]}
    scenario = Scenario.from_dict({**data, "configs": {"replica.selector.class": True}})
    broker = play_all(Run(scenario, "K39", 0, ("produce a", "settle", "settle"))).brokers[1].running
    asked, out = fetch(-1, 1), Effects()
    asked.rack = "b"
    serving.on_fetch_request(broker, asked, out)
    (answer,) = [one for one in out.sends if isinstance(one, FetchResponse)]
    assert ([one.preferred for one in answer.partitions], broker.parked) == ([0], [])
