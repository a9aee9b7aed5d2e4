"""F-2, F-6, F-9, L-16: which answers a fetcher makes use of, and what ends its work."""

from __future__ import annotations

from typing import Any

import pytest

from engine.dataplane import fetcher, serving
from engine.model.effects import Effects
from engine.model.errors import NONE
from engine.model.log import Batch, Log
from engine.model.messages import (
    LATEST,
    NO_EPOCH,
    FetchData,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from engine.model.state import FETCHING, TRUNCATING
from engine.sim.simulation import Simulation
from tests.rules.playing import thread_of, two_played


def asked(sim: Simulation) -> FetchResponse:
    """The answer to the fetch that broker 2 has just sent: one record of each partition."""
    thread = thread_of(sim, 2)
    fetcher.do_work(sim.brokers[2].running, thread, Effects())
    parts = [FetchData(tp, NONE, 1, 0, (Batch(0, 0, ("a",)),)) for tp in thread.partitions]
    return FetchResponse(1, 2, thread.outstanding, parts)


@pytest.mark.parametrize(
    ("asked_at", "state", "waits", "records"),
    [
        (0, FETCHING, 0, 1),
        (1, FETCHING, 0, 0),
        (-1, FETCHING, 0, 0),
        (0, TRUNCATING, 0, 0),
        (0, FETCHING, 1, 0),
    ],
)
def test_an_answer_to_what_is_not_asked_any_more_is_left_aside(
    asked_at: int, state: int, waits: int, records: int
) -> None:
    """F-6: the partition has another offset by now, or it is being cut, or it backs off."""
    sim, out = two_played("K39", "settle"), Effects()
    answer = asked(sim)
    found = thread_of(sim, 2).partitions[0]
    found.asked, found.state, found.delay_until = asked_at, state, waits
    fetcher.on_fetch_response(sim.brokers[2].running, answer, out)
    assert sim.brokers[2].replicas[0].log.leo == records


def test_a_partition_that_is_left_aside_does_not_hold_up_the_others() -> None:
    """F-6."""
    sim, out = two_played("K39", "settle", partitions=[[1, 2]] * 3), Effects()
    answer = asked(sim)
    thread = thread_of(sim, 2)
    del thread.partitions[0]
    thread.partitions[1].state = TRUNCATING
    fetcher.on_fetch_response(sim.brokers[2].running, answer, out)
    assert [sim.brokers[2].replicas[tp].log.leo for tp in range(3)] == [0, 0, 1]


@pytest.mark.parametrize(("epoch", "offset"), [(0, 2), (1, 1)])
def test_following_begins_again_only_in_another_epoch(epoch: int, offset: int) -> None:
    """F-2: a follower that learns of an epoch that it follows already goes on where it is."""
    sim, out = two_played("K39", "produce a b to 1", "settle"), Effects()
    follower = sim.brokers[2].running
    thread = fetcher.add_partition(follower, follower.replicas[0], 1, epoch, out)
    state = thread.partitions[0]
    assert (state.offset, state.leader_epoch) == (offset, epoch)


@pytest.mark.parametrize("wanted", [(), (1,)])
def test_an_offset_that_was_not_looked_up_is_ignored(wanted: tuple[int, ...]) -> None:
    """F-9: the thread goes on with what it has to do."""
    sim, out = (
        two_played("K39", "produce a b to 1", "settle", partitions=[[1, 2]] * 2),
        Effects(),
    )
    follower, thread = sim.brokers[2].running, thread_of(sim, 2)
    thread.lookups[:] = wanted
    thread.outstanding = corr = follower.next_corr()
    fetcher.on_list_offsets_response(
        follower, ListOffsetsResponse(1, 2, corr, 0, LATEST, NONE, 0), out
    )
    assert follower.replicas[0].log.leo == 2 and tuple(thread.lookups) == wanted
    assert [one.tp for one in out.sends if isinstance(one, ListOffsetsRequest)] == list(wanted)


@pytest.mark.parametrize(
    ("profile", "unclean", "halts"),
    [("2.0.0", 0, True), ("2.0.0", 1, False), ("2.0.1", 0, False), ("K39", 0, False)],
)
def test_a_follower_ahead_of_its_leader_halted_up_to_2_0_0(
    profile: str, unclean: int, halts: bool
) -> None:
    """F-9.2, KAFKA-7414: unless unclean elections are allowed, where that is to be expected."""
    configs = {"unclean.leader.election.enable": unclean}
    sim, out = two_played(profile, "produce a b to 1", "settle", configs=configs), Effects()
    follower, thread = sim.brokers[2].running, thread_of(sim, 2)
    thread.lookups[:] = [0]
    fetcher.do_work(follower, thread, out)
    answer = ListOffsetsResponse(1, 2, thread.outstanding, 0, LATEST, NONE, 1)
    fetcher.on_list_offsets_response(follower, answer, out)
    assert follower.halted is halts
    assert follower.replicas[0].log.leo == (2 if halts else 1)


class FullDisk(Log):
    """A log whose disk takes nothing more."""

    def append_follower(self, batches: Any) -> int:
        raise OSError("no space left on device")


def test_a_partition_whose_disk_does_not_write_is_fetched_no_more() -> None:
    """L-16, F-8: nothing of the answer counts for it, neither its mark nor its log start."""
    sim, out = two_played("K39", "settle", partitions=[[1, 2]] * 2), Effects()
    answer = asked(sim)
    follower = sim.brokers[2].running
    follower.replicas[0].log = FullDisk()
    fetcher.on_fetch_response(follower, answer, out)
    assert follower.failed == {0} and list(thread_of(sim, 2).partitions) == [1]
    assert [follower.replicas[tp].log.leo for tp in (0, 1)] == [0, 1]


@pytest.mark.parametrize(("mark", "told"), [(0, []), (1, [1])])
def test_a_consumer_that_waits_at_a_follower_is_answered_when_the_mark_rises(
    mark: int, told: list[int]
) -> None:
    """S-6, KIP-392: what the follower has beyond its high watermark is of no use to it."""
    sim, out = two_played("K39", "settle"), Effects()
    answer = asked(sim)
    answer.partitions[0].hw = mark
    follower = sim.brokers[2].running
    wanted = FetchPartition(0, 0, NO_EPOCH, follower.replicas[0].leader_epoch, 0)
    consumer = FetchRequest(-11, 2, 1, (wanted,), -1, -1, 500, 1, 9, "")
    serving.on_fetch_request(follower, consumer, out)
    assert len(follower.parked) == 1 and not out.sends
    fetcher.on_fetch_response(follower, answer, out)
    sent = [one for one in out.sends if isinstance(one, FetchResponse)]
    assert [len(one.partitions[0].batches) for one in sent] == told
    assert len(follower.parked) == 1 - len(told)
