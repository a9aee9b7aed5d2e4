"""F-2, F-6, F-8, F-9, L-4: what a follower makes of answers and errors, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from engine.dataplane import fetcher, following
from engine.model.effects import Effects
from engine.model.log import Batch
from engine.model.messages import LATEST, NO_EPOCH, ListOffsetsRequest
from engine.model.state import FETCHING, FetcherThread
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation


def played(profile: str, *lines: str, **data: Any) -> Simulation:
    scenario = Scenario.from_dict({"title": "x", "brokers": 2, **data})
    return play_all(Run(scenario, profile, 0, lines))


def thread_of_broker_2(sim: Simulation) -> FetcherThread:
    (thread,) = sim.brokers[2].running.fetchers.values()
    return thread


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_who_is_told_no_offset_asks_the_leader_for_its_end(offset: int) -> None:
    """F-2: a negative offset is none; 0 is one."""
    sim, out = played("K39", "produce a to 1", "settle"), Effects()
    follower = sim.brokers[2].running
    fetcher.remove_partition(follower, 0)
    thread = fetcher.add_partition(follower, follower.replicas[0], offset, 0, out)
    assert thread.lookups == ([0] if offset < 0 else [])
    fetcher.do_work(follower, thread, out)
    (asked,) = out.sends
    assert isinstance(asked, ListOffsetsRequest) is (offset < 0)
    assert getattr(asked, "timestamp", LATEST) == LATEST


@pytest.mark.parametrize(("profile", "last"), [("K39", 0), ("Z24", NO_EPOCH)])
def test_who_cuts_on_fetching_names_its_latest_epoch_from_the_beginning(
    profile: str, last: int
) -> None:
    """F-2: also where it does not know yet from which offset."""
    replica = played(profile, "produce a to 1", "settle").brokers[2].replicas[0]
    assert replica.log.epochs.latest() == 0
    began = following.initial_state(replica, -1, 5)
    assert (began.state, began.offset, began.last_epoch) == (FETCHING, 1, last)


@pytest.mark.parametrize(
    ("release", "epochs", "kept"),
    [
        ("3.9.0", (0, 1, 2, 1), 4),
        ("3.9.1", (0, 1, 2, 1), 2),
        ("3.9.1", (0, 1, 1), 3),
        ("3.9.1", (2,), 0),
        ("3.9.1", (), 0),
    ],
)
def test_batches_of_a_newer_epoch_than_the_request_are_dropped(
    release: str, epochs: tuple[int, ...], kept: int
) -> None:
    """L-4.2, KAFKA-18723: from the first one on, whatever follows it."""
    sim = played(f"{release}-kraft", "settle")
    state = thread_of_broker_2(sim).partitions[0]
    state.asked_epoch = 1
    sent = [Batch(at, epoch, ("r",)) for at, epoch in enumerate(epochs)]
    usable = following.usable_batches(sim.brokers[2].replicas[0], state, sent)
    assert usable == sent[:kept]


@pytest.mark.parametrize(("waits", "order"), [(-1, [1, 0]), (0, [1, 0]), (1, [0, 1])])
def test_an_error_after_a_back_off_sends_the_partition_to_the_end(
    waits: int, order: list[int]
) -> None:
    """F-8: a back-off that has just ended begins anew; one that still runs is left alone."""
    sim, out = played("K39", "settle", partitions=[[1, 2], [1, 2]]), Effects()
    follower, thread = sim.brokers[2].running, thread_of_broker_2(sim)
    out.now = 10_000
    state = thread.partitions[0]
    state.delay_until = out.now + waits
    following.delay_last(follower, thread, state, out)
    assert list(thread.partitions) == order
    wanted = waits if waits > 0 else follower.configs.fetch_backoff_ms
    assert state.delay_until == out.now + wanted


@pytest.mark.parametrize(("leader_start", "end", "backs_off"), [(0, 1, True), (5, 5, False)])
def test_out_of_range_without_a_reason_is_asked_again_only_after_a_back_off(
    leader_start: int, end: int, backs_off: bool
) -> None:
    """F-9.3, KAFKA-15608: a log that ends before the leader's start begins there, and at once."""
    sim, out = played("K39", "produce a to 1", "settle"), Effects()
    follower, state = sim.brokers[2].running, thread_of_broker_2(sim).partitions[0]
    following.restart_at(follower, follower.replicas[0], state, leader_start, out)
    assert (follower.replicas[0].log.leo, state.offset, state.state) == (end, end, FETCHING)
    assert (state.delay_until > out.now) is backs_off


@pytest.mark.parametrize(
    ("records", "leader_end", "leader_start", "lag"),
    [("a", 7, 5, 2), ("a", 7, 0, 6), ("a", 5, 5, 0), ("", None, 0, 0), ("", 0, 0, 0)],
)
def test_a_lookup_tells_how_far_behind_the_follower_begins(
    records: str, leader_end: int | None, leader_start: int, lag: int
) -> None:
    """F-9.3: the leader's end that was kept, less where the own log ends now."""
    sim, out = played("K39", *([f"produce {records} to 1"] if records else []), "settle"), Effects()
    follower, state = sim.brokers[2].running, thread_of_broker_2(sim).partitions[0]
    state.lag = leader_end
    following.restart_at(follower, follower.replicas[0], state, leader_start, out)
    assert state.lag == lag
