"""Q-1 - Q-7: replication quotas, alone and at work."""

from __future__ import annotations

import pytest

from engine.checks.invariants.fetching import held_in_sync
from engine.dataplane import fetcher, reading, serving
from engine.model import configs, messages, quotas
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.errors import InputError
from engine.model.log import Batch, Log
from engine.model.profiles import get_profile
from engine.model.quotas import Quotas, ReplicationQuota
from engine.model.state import FOLLOWER, LEADER, Disk, Replica
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.view.view import view


def test_the_example_of_q6() -> None:
    quota = ReplicationQuota(1_000)
    quota.record(5_000, 0)
    assert quota.exceeded(500) and quota.exceeded(4_900)
    assert not quota.exceeded(5_000), "exactly the limit is not too much"


def test_windows_close_and_vanish() -> None:
    quota = ReplicationQuota(100, samples=2, window_ms=1_000)
    for now in (0, 1_000, 2_000):
        quota.record(100, now)
    assert quota.per_second(2_000) == 200.0, "two windows are kept: those of 1 s and of 2 s"
    assert quota.per_second(10_000) == 0.0


def test_in_sync_replicas_that_are_throttled() -> None:
    """INV-28: a leader's follower by its ISR, a broker itself by how far it believes to lag."""
    leader = broker(1, LEADER)
    held = Quotas()
    held.held = {(0, 2): 5, (0, 3): 6}
    leader.replicas[0].isr = (1, 2)
    assert list(held_in_sync(leader, held, 4)) == [2]
    assert list(held_in_sync(leader, held, 5)) == []
    leader.replicas[0].isr = (1, 2, 3)
    assert list(held_in_sync(leader, held, 4)) == [2, 3]
    held.held = {(0, 1): 7}
    assert list(held_in_sync(leader, held, 4)) == [], "nobody knows how far it lags"


@pytest.mark.parametrize("text", ["*", " * ", "", "1:2", "1:2,3:4", "1:2,", " 1:2 , 3:4 "])
def test_lists(text: str) -> None:
    assert quotas.is_valid_list(text)


@pytest.mark.parametrize("text", ["1", "1:", ":1", "*,1:2", "1 :2", "a:b", "1:2:3", "1;2"])
def test_texts_that_are_no_lists(text: str) -> None:
    assert not quotas.is_valid_list(text)
    with pytest.raises(InputError):
        quotas.parse_list(text, 1)


def test_parsing_takes_the_entries_of_the_broker() -> None:
    assert quotas.parse_list(" 6:102 ,7:101,8:102", 102) == (6, 8)
    assert quotas.parse_list("*", 102) == quotas.ALL


def broker(id: int, role: int) -> Process:
    profile = get_profile("K39")
    one = Process(Machine(id, str(id), "", profile, configs.build(profile), False))
    log = Log()
    replica = one.replicas[0] = Replica(0, id, Disk(log), profile, one.configs)
    replica.role, replica.leader, replica.leader_epoch = role, 1, 0
    replica.assignment = (1, 2)
    return one


def throttled() -> Quotas:
    both = Quotas()
    for quota in (both.leader, both.follower):
        quota.limit = 0
        quota.mark(quotas.TOPIC, [0])
        quota.record(1, 0)
    return both


def fetch(leader: Process, follower: int = 2) -> messages.FetchData:
    part = messages.FetchPartition(0, 0, -1, 0, 0)
    request = messages.FetchRequest(follower, 1, 1, [part], follower, -1, 0, 1, 500)
    out = Effects()
    serving.on_fetch_request(leader, request, out)
    answer = out.sends[0]
    assert isinstance(answer, messages.FetchResponse)
    return answer.partitions[0]


@pytest.mark.parametrize("follower", [0, 2])
@pytest.mark.parametrize(("in_sync", "records"), [(False, 0), (True, 1)])
def test_a_leader_throttles_only_replicas_outside_the_isr(
    follower: int, in_sync: bool, records: int
) -> None:
    leader = broker(1, LEADER)
    leader.replicas[0].assignment = (1, follower)
    isr = (1, follower) if in_sync else (1,)
    leader.replicas[0].log.append(Batch(0, 0, ("m",)))
    leader.replicas[0].isr = leader.replicas[0].maximal_isr = isr
    leader.quotas = throttled()
    assert len(fetch(leader, follower).batches) == records
    assert leader.quotas.leader.rate.measure(0)[0] == 1 + records, "what is sent counts (Q-5)"
    leader.quotas = None
    assert len(fetch(leader, follower).batches) == 1


@pytest.mark.parametrize("consumer", [-1, -21])
def test_a_quota_of_replication_holds_back_no_consumer(consumer: int) -> None:
    leader = broker(1, LEADER)
    leader.quotas = throttled()
    parts = [messages.FetchPartition(0, 0, -1, 0, 0)]
    held = {
        replica: reading.held_back(
            leader, messages.FetchRequest(replica, 1, 1, parts, replica, -1, 0, 1, 500), 0, 0
        )
        for replica in (consumer, 2)
    }
    assert held == {consumer: False, 2: True}


@pytest.mark.parametrize(("lag", "asks"), [(None, False), (3, False), (0, True)])
def test_a_follower_that_is_behind_holds_itself_back(lag: int | None, asks: bool) -> None:
    follower = broker(2, FOLLOWER)
    follower.quotas = throttled()
    out = Effects()
    fetcher.start_fetching(follower, follower.replicas[0], out)
    thread = fetcher.thread_of(follower, 0)
    assert thread is not None
    fetcher.maybe_truncate(follower, thread, out)
    thread.partitions[0].lag = lag
    assert fetcher.maybe_fetch(follower, thread, out) is asks
    assert bool(out.timers) is not asks, "it looks again after a back-off"


def test_a_follower_throttled_in_one_partition_fetches_the_others() -> None:
    """Q-3: whichever of them comes first."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 2, "partitions": [[1, 2]] * 3})
    follower = play_all(Run(scenario, "K39", 0, ("settle",))).brokers[2].running
    follower.quotas = throttled()
    (thread,) = follower.fetchers.values()
    thread.partitions[0].lag = 3
    out = Effects()
    assert list(thread.partitions) == [0, 1, 2] and fetcher.maybe_fetch(follower, thread, out)
    (asked,) = out.sends
    assert isinstance(asked, messages.FetchRequest)
    assert [part.tp for part in asked.partitions] == [1, 2]


# -- in a run -------------------------------------------------------------------------------------

THROTTLED = (
    "set leader.replication.throttled.replicas=*",
    "set leader.replication.throttled.rate=1000",
    "kill 3",
    "advance 10s",
    "produce a b c d e",
    "fetching auto",
    "restart 3",
    "advance 2s",
)


def test_a_view_shows_throttled_replicas_and_disturbs_nothing() -> None:
    sim = play_all(Run(find("S01"), "K39", 0, THROTTLED))
    throttle = sim.brokers[1].running.quotas
    assert throttle is not None
    before = samples(throttle)
    sim.kernel.now += 60_000  # old enough to be cleared, were it measured in earnest
    shown = view(sim)["partitions"][0]["replicas"]["1"]["throttled"]
    assert shown == {"rate": 0, "limit": 1_000, "held": [3]}
    assert samples(throttle) == before
    plain = view(play_all(Run(find("S01"), "K39")))
    assert "throttled" not in plain["partitions"][0]["replicas"]["1"]


def samples(throttle: Quotas) -> list[tuple[int, int, int]]:
    ring = throttle.leader.rate.ring
    return [(sample.start_ms, sample.last_event_ms, sample.value) for sample in ring]


def test_bytes_are_records_of_one_size() -> None:
    throttle = Quotas(record_bytes=500)
    throttle.leader.mark(quotas.TOPIC, quotas.ALL)
    throttle.count_sent(0, 3, 0)
    assert throttle.leader.per_second(0) == 1_500


def test_a_limit_may_change_while_a_broker_runs_and_what_it_measured_stays() -> None:
    values = {**configs.build(get_profile("K39")).values}
    assert quotas.settled(None, values, 1) is None
    values["leader.replication.throttled.replicas"] = "0:1"
    first = quotas.settled(None, values, 1)
    assert first is not None and not first.leader.exceeded(0)
    first.count_sent(0, 10, 0)
    values["leader.replication.throttled.rate"] = 9_999
    again = quotas.settled(first, values, 1)
    assert again is first and again.leader.exceeded(0)
    assert quotas.settled(None, values, 2) is None
