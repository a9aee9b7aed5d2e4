"""Q-1 - Q-7: replication quotas, alone and at work."""

from __future__ import annotations

import pytest

from engine.dataplane import fetcher, serving
from engine.model import configs, messages, quotas
from engine.model.effects import Effects
from engine.model.errors import BadInput
from engine.model.log import Batch, Log
from engine.model.profiles import get_profile
from engine.model.quotas import Quotas, ReplicationQuota
from engine.model.state import FOLLOWER, LEADER, Broker, Disk, Replica


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


@pytest.mark.parametrize("text", ["*", " * ", "", "1:2", "1:2,3:4", "1:2,", " 1:2 , 3:4 "])
def test_lists(text: str) -> None:
    assert quotas.is_valid_list(text)


@pytest.mark.parametrize("text", ["1", "1:", ":1", "*,1:2", "1 :2", "a:b", "1:2:3", "1;2"])
def test_texts_that_are_no_lists(text: str) -> None:
    assert not quotas.is_valid_list(text)
    with pytest.raises(BadInput):
        quotas.parse_list(text, 1)


def test_parsing_takes_the_entries_of_the_broker() -> None:
    assert quotas.parse_list(" 6:102 ,7:101,8:102", 102) == (6, 8)
    assert quotas.parse_list("*", 102) == quotas.ALL


def broker(id: int, role: int) -> Broker:
    profile = get_profile("K39")
    one = Broker(id, str(id), "", profile, configs.build(profile), False)
    log = Log()
    replica = one.replicas[0] = Replica(0, id, Disk(log), profile, one.configs)
    replica.role, replica.leader, replica.leader_epoch = role, 1, 0
    replica.assignment = (1, 2)
    return one


def throttled(limit: int = 0) -> Quotas:
    both = Quotas()
    for quota in (both.leader, both.follower):
        quota.limit = limit
        quota.mark(quotas.TOPIC, [0])
        quota.record(1, 0)
    return both


def fetch(leader: Broker) -> messages.FetchData:
    part = messages.FetchPartition(0, 0, -1, 0, 0)
    request = messages.FetchRequest(2, 1, 1, [part], 2, -1, 0, 1, 500)
    out = Effects()
    serving.on_fetch_request(leader, request, out)
    answer = out.sends[0]
    assert isinstance(answer, messages.FetchResponse)
    return answer.partitions[0]


@pytest.mark.parametrize(("isr", "records"), [((1,), 0), ((1, 2), 1)])
def test_a_leader_holds_back_only_who_is_outside_the_isr(
    isr: tuple[int, ...], records: int
) -> None:
    leader = broker(1, LEADER)
    leader.replicas[0].log.append(Batch(0, 0, ("m",)))
    leader.replicas[0].isr = leader.replicas[0].maximal_isr = isr
    leader.quotas = throttled()
    assert len(fetch(leader).batches) == records
    assert leader.quotas.leader.rate.measure(0)[0] == 1 + records, "what is sent counts (Q-5)"
    leader.quotas = None
    assert len(fetch(leader).batches) == 1


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
