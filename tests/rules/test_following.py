"""F-2, F-6, F-8, F-9, L-4: what a follower makes of answers and errors, rule by rule."""

from __future__ import annotations

import pytest

from engine.dataplane import fetcher, partition_fetch_state
from engine.model.effects import Effects
from engine.model.errors import NONE
from engine.model.log import Batch
from engine.model.messages import (
    LATEST,
    NO_EPOCH,
    EpochEndResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from engine.model.quotas import TOPIC, Quotas
from engine.model.state import FETCHING, TRUNCATING
from engine.model.timers import FETCHER_WORK
from tests.conformance.fetchers import FetcherCase
from tests.rules.playing import thread_of, two_played


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_followers_without_an_offset_ask_the_leader_for_its_end(offset: int) -> None:
    """F-2: a negative offset is none; 0 is one."""
    sim, out = two_played("K39", "produce a to 1", "settle"), Effects()
    follower = sim.brokers[2].running
    fetcher.remove_partition(follower, 0)
    thread = fetcher.add_partition(follower, follower.replicas[0], offset, 0, out)
    assert thread.lookups == ([0] if offset < 0 else [])
    fetcher.do_work(follower, thread, out)
    (asked,) = out.sends
    assert isinstance(asked, ListOffsetsRequest) is (offset < 0)
    assert getattr(asked, "timestamp", LATEST) == LATEST


@pytest.mark.parametrize(
    ("profile", "epochs", "state", "offset"),
    [
        ("K39", True, FETCHING, 2),
        ("K39", False, TRUNCATING, 1),  # all that it has is of the old message format
        ("Z24", True, TRUNCATING, 1),
        ("Z0102", True, FETCHING, 2),
    ],
)
def test_followers_that_compare_epochs_in_fetches_begin_at_their_end(
    profile: str, epochs: bool, state: int, offset: int
) -> None:
    """F-2: all others at the high watermark, where the role change has not cut to it; a leader
    may have the number 0."""
    data = {"brokers": [{"id": 0}, {"id": 2}], "partitions": [[0, 2]]}
    sim = two_played(profile, "produce a b to 0", "settle", **data)
    follower = sim.brokers[2].running
    log = follower.replicas[0].log
    log.hw = 1
    if not epochs:
        log.epochs.clear()
    fetcher.start_fetching(follower, follower.replicas[0], Effects())
    began = thread_of(sim, 2).partitions[0]
    assert (began.state, began.offset) == (state, offset)


def test_followers_without_a_known_leader_do_not_fetch() -> None:
    """F-2: until it hears of one."""
    sim = two_played("K39", "settle")
    follower = sim.brokers[2].running
    follower.replicas[0].leader = -1
    fetcher.start_fetching(follower, follower.replicas[0], Effects())
    assert not follower.fetchers


@pytest.mark.parametrize(("fetchers", "told"), [(1, []), (2, [("F-1", 1, 1)])])
def test_threads_are_numbered_if_there_are_several(
    fetchers: int, told: list[tuple[str, int, int]]
) -> None:
    """F-1: as leader and number."""
    sim = two_played("K39", "settle", configs={"num.replica.fetchers": fetchers},
                 partitions=[[1, 2], [1, 2]])  # fmt: skip
    out = Effects(cues=True)
    fetcher.start_fetching(sim.brokers[2].running, sim.brokers[2].replicas[1], out)
    cues = [(one.rule, one.old, one.new) for one in out.cues or () if one.rule == "F-1"]
    assert cues == told


@pytest.mark.parametrize("wanted", [[2, 0, 1], [1, 0, 2]])
def test_offsets_are_looked_up_in_the_order_in_which_they_were_missed(wanted: list[int]) -> None:
    """F-9: one partition after the other; whose fetch was out of range first asks first."""
    sim, out = two_played("K39", "settle", partitions=[[1, 2]] * 3), Effects()
    thread = thread_of(sim, 2)
    thread.lookups[:] = wanted
    fetcher.do_work(sim.brokers[2].running, thread, out)
    (asked,) = out.sends
    assert isinstance(asked, ListOffsetsRequest)
    assert (asked.tp, asked.timestamp) == (wanted[0], LATEST)


def test_followers_with_more_than_is_committed_do_not_lag() -> None:
    """F-7: the lag is counted from the leader's high watermark, and is never below 0."""
    sim = two_played("K39", "produce a b to 1", "fetch 2")
    follower = sim.brokers[2].running
    assert (follower.replicas[0].log.leo, follower.replicas[0].log.hw) == (2, 0)
    assert partition_fetch_state.lag_of(follower, 0) == 0
    assert partition_fetch_state.lag_of(two_played("K39", "settle").brokers[2].running, 0) == 0
    assert partition_fetch_state.lag_of(follower, 7) is None


def test_a_disk_that_does_not_cut_fails_its_partition() -> None:
    """L-16, F-8: and nothing goes on as if it had."""
    given = {"leader_mode": "scripted", "partitions": {"p": {"replica": {"log": [[0, 0]]}}}}
    case = FetcherCase(given, "any")
    case.run([{"op": "add_partition", "p": "p", "fetch_offset": 1, "leader_epoch": 0},
              {"op": "inject_failure", "p": "p", "stage": "truncate"}])  # fmt: skip
    (thread,) = case.broker.fetchers.values()
    state = thread.partitions[0]
    assert not partition_fetch_state.cut_or_fail(case.broker, thread, state, 0, "T-0", case.out)
    assert case.broker.failed == {0} and not case.broker.fetchers


@pytest.mark.parametrize(("profile", "last"), [("K39", 0), ("Z24", NO_EPOCH)])
def test_followers_that_truncate_on_fetch_send_their_latest_epoch_first(
    profile: str, last: int
) -> None:
    """F-2: also where it does not know yet from which offset."""
    replica = two_played(profile, "produce a to 1", "settle").brokers[2].replicas[0]
    assert replica.log.epochs.latest() == 0
    began = partition_fetch_state.initial_state(replica, -1, 5)
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
    sim = two_played(f"{release}-kraft", "settle")
    state = thread_of(sim, 2).partitions[0]
    state.asked_epoch = 1
    sent = [Batch(at, epoch, ("r",)) for at, epoch in enumerate(epochs)]
    usable = partition_fetch_state.usable_batches(sim.brokers[2].replicas[0], state, sent)
    assert usable == sent[:kept]


@pytest.mark.parametrize(("waits", "order"), [(-1, [1, 0]), (0, [1, 0]), (1, [0, 1])])
def test_an_error_after_a_back_off_sends_the_partition_to_the_end(
    waits: int, order: list[int]
) -> None:
    """F-8: a back-off that has just ended begins again; one that still runs is left alone."""
    sim, out = two_played("K39", "settle", partitions=[[1, 2], [1, 2]]), Effects()
    follower, thread = sim.brokers[2].running, thread_of(sim, 2)
    out.now = 10_000
    state = thread.partitions[0]
    state.delay_until = out.now + waits
    partition_fetch_state.delay_last(follower, thread, state, out)
    assert list(thread.partitions) == order
    wanted = waits if waits > 0 else follower.configs.fetch_backoff_ms
    assert state.delay_until == out.now + wanted


@pytest.mark.parametrize(
    ("leader_start", "end", "kept", "backs_off"),
    [(0, 1, 1, True), (1, 1, 1, True), (2, 2, 0, False), (5, 5, 0, False)],
)
def test_out_of_range_without_a_reason_is_asked_again_only_after_a_back_off(
    leader_start: int, end: int, kept: int, backs_off: bool
) -> None:
    """F-9.3, KAFKA-15608: a log that ends before the leader's start begins there, and at once."""
    sim, out = two_played("K39", "produce a to 1", "settle"), Effects()
    follower, state = sim.brokers[2].running, thread_of(sim, 2).partitions[0]
    partition_fetch_state.restart_at(follower, follower.replicas[0], state, leader_start, out)
    assert (follower.replicas[0].log.leo, state.offset, state.state) == (end, end, FETCHING)
    assert len(follower.replicas[0].log.batches) == kept
    assert (state.delay_until > out.now) is backs_off


@pytest.mark.parametrize(
    ("records", "leader_end", "leader_start", "lag"),
    [
        ("a", 7, 5, 2),
        ("a", 7, 0, 6),
        ("a", 5, 5, 0),
        ("a", None, 0, 0),
        ("", None, 0, 0),
        ("", 0, 0, 0),
    ],
)
def test_a_lookup_tells_how_far_behind_the_follower_begins(
    records: str, leader_end: int | None, leader_start: int, lag: int
) -> None:
    """F-9.3: the leader's end that was kept, less where the own log ends now."""
    written = [f"produce {records} to 1"] if records else []
    sim, out = two_played("K39", *written, "settle"), Effects()
    follower, state = sim.brokers[2].running, thread_of(sim, 2).partitions[0]
    state.lag = leader_end
    partition_fetch_state.restart_at(follower, follower.replicas[0], state, leader_start, out)
    assert state.lag == lag


def test_metadata_gives_the_partitions_that_it_names_their_topic_ids() -> None:
    """F-5, KIP-516: a partition that is not named has none yet."""
    sim = two_played("K39", "settle", partitions=[[1, 2], [1, 2]])
    partition_fetch_state.set_topic_ids(sim.brokers[2].running, {1: "id"})
    states = thread_of(sim, 2).partitions
    assert {tp: state.topic_id for tp, state in states.items()} == {0: None, 1: "id"}


def test_a_log_without_epochs_is_fetched_from_its_high_watermark() -> None:
    """F-2, T-0: in the old message format nothing can be checked on the way."""
    sim, out = two_played("K39", "produce a b to 1", "settle"), Effects()
    follower = sim.brokers[2].running
    log = follower.replicas[0].log
    log.hw = 1
    log.epochs.clear()
    follower.machine.auto_fetch = False
    fetcher.start_fetching(follower, follower.replicas[0], out)
    state = thread_of(sim, 2).partitions[0]
    assert (state.state, state.offset) == (TRUNCATING, 1)


@pytest.mark.parametrize(("end", "leo"), [(1, 1), (0, 0)])
def test_followers_truncated_to_the_leaders_end_lag_no_more(end: int, leo: int) -> None:
    """F-9: what it had beyond the leader's end is gone, and that end is where it goes on."""
    sim, out = two_played("K39", "produce a b to 1", "settle"), Effects()
    follower, thread = sim.brokers[2].running, thread_of(sim, 2)
    thread.lookups[:] = [0]
    fetcher.do_work(follower, thread, out)
    answer = ListOffsetsResponse(1, 2, thread.outstanding, 0, LATEST, NONE, end)
    fetcher.on_list_offsets_response(follower, answer, out)
    state = thread.partitions[0]
    assert (follower.replicas[0].log.leo, state.offset, state.lag) == (leo, leo, 0)
    assert state.state == FETCHING and not thread.lookups


@pytest.mark.parametrize(("epoch", "leo"), [(0, 1), (1, 2)])
def test_an_epoch_end_is_used_only_in_the_epoch_of_its_request(epoch: int, leo: int) -> None:
    """T-2: a partition that is followed in a newer epoch by now, or no more, is left alone."""
    sim, out = two_played("Z24", "produce a b to 1", "settle"), Effects()
    follower, thread = sim.brokers[2].running, thread_of(sim, 2)
    state = thread.partitions[0]
    state.state, state.offset = TRUNCATING, 0
    assert fetcher.maybe_truncate(follower, thread, out)
    state.leader_epoch = epoch
    thread.requested = frozenset((0, 1))
    answer = EpochEndResponse(1, 2, thread.outstanding, [(1, NONE, 0, 0), (0, NONE, 0, 1)])
    fetcher.on_epoch_end_response(follower, answer, out)
    assert follower.replicas[0].log.leo == leo
    assert state.state == (FETCHING if leo == 1 else TRUNCATING)


@pytest.mark.parametrize(("backs_off", "wakes"), [(-1, 40), (0, 40), (1, 1), (70, 70)])
def test_a_loop_with_nothing_to_send_sleeps_until_a_back_off_ends(
    backs_off: int, wakes: int
) -> None:
    """F-4, Q-3: of a partition; where a quota holds the only one back, a back-off of its own.  It
    is told so once."""
    sim, out = two_played("K39", "settle", configs={"replica.fetch.backoff.ms": 40}), Effects()
    follower, thread = sim.brokers[2].running, thread_of(sim, 2)
    follower.quotas = Quotas()
    follower.quotas.follower.limit = 0
    follower.quotas.follower.mark(TOPIC, [0])
    out.now = 10_000
    follower.quotas.follower.record(1, out.now)
    state = thread.partitions[0]
    state.lag, state.delay_until = 3, out.now + backs_off
    for _ in range(2):
        assert not fetcher.maybe_fetch(follower, thread, out)
    assert out.timers == [(2, wakes, FETCHER_WORK, (1, 0))]
    assert thread.waking == out.now + wakes
