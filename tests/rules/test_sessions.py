"""X-2 - X-6: incremental fetch sessions, both sides talking to each other."""

from __future__ import annotations

import pytest

from engine.dataplane import fetch_request, serving
from engine.dataplane.fetch_request import NAMES_VERSION
from engine.dataplane.session_serving import answer_in_session
from engine.model import errors, sessions
from engine.model.effects import Effects
from engine.model.messages import (
    FetchData,
    FetchPartition,
    FetchRequest,
    Redirection,
)
from engine.model.session_client import SessionClient
from engine.model.session_messages import SessionAnswer, SessionFetch, SessionRead
from engine.model.sessions import (
    FetchContext,
    Key,
    PartitionAnswer,
    PartitionRequest,
    SessionCache,
)
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation

NAMES = {"id": "t"}

FROM_0 = Scenario.from_dict(
    {
        "title": "x",
        "brokers": [{"id": 0}, {"id": 1}],
        "partitions": [[1, 0]],
        "configs": {"fetch_sessions": 1},
    }
)


def wanted(offset: int) -> PartitionRequest:
    return PartitionRequest(offset, 0, 100, None, None, "id")


class Pair:
    """A fetcher and the leader's cache, with everything sent as on the wire."""

    def __init__(self) -> None:
        self.client = SessionClient()
        self.cache = SessionCache(max_sessions=1)

    def ask(self, offsets: dict[int, int]) -> tuple[list[str], FetchContext]:
        request = self.client.build({str(p): wanted(o) for p, o in offsets.items()})
        keys: dict[Key, PartitionRequest] = {
            ("id", int(p)): wanted(offsets[int(p)]) for p in request.send
        }
        context = sessions.new_context(
            self.cache,
            0,
            request.session_id,
            request.epoch,
            keys,
            [("id", int(p)) for p in request.forget],
            True,
            13,
            NAMES,
        )
        return request.send, context

    def answer(self, context: FetchContext, **records: int) -> list[int]:
        answers = {
            key: PartitionAnswer(5, 0, records.get(f"p{key[1]}", 0)) for key in context.partitions
        }
        error, session, sent = sessions.respond(self.cache, context, 0, answers)
        self.client.handle(error, session, [str(p) for _, p in sent], 13)
        return [p for _, p in sent]


def test_the_example_of_x6() -> None:
    pair = Pair()
    send, context = pair.ask({0: 0, 1: 0, 2: 0})
    assert (send, context.kind) == (["0", "1", "2"], sessions.FULL)
    assert pair.answer(context) == [0, 1, 2]
    send, context = pair.ask({0: 0, 1: 0, 2: 0})
    assert (send, context.kind) == ([], sessions.INCREMENTAL)
    assert [key[1] for key in context.partitions] == [0, 1, 2], "all are read, listed or not"
    assert pair.answer(context, p1=3) == [1]
    assert [key[1] for key in context.partitions] == [0, 2, 1], "who got records comes last"
    send, context = pair.ask({0: 0, 1: 3, 2: 0})
    assert send == ["1"]
    assert pair.answer(context) == []
    send, context = pair.ask({0: 0, 1: 3})
    assert ("id", 2) not in context.partitions
    pair.answer(context)
    pair.cache = SessionCache()  # the leader restarts
    _, context = pair.ask({0: 0, 1: 3})
    assert context.error == errors.FETCH_SESSION_ID_NOT_FOUND
    pair.answer(context)
    send, context = pair.ask({0: 0, 1: 3})
    assert (send, context.kind) == (["0", "1"], sessions.FULL)


def test_epochs_wrap_past_the_initial_one() -> None:
    assert sessions.next_epoch(0) == 1
    assert sessions.next_epoch(sessions.LAST_EPOCH) == 1
    assert sessions.next_epoch(sessions.FINAL) == sessions.FINAL


@pytest.mark.parametrize(("epoch", "version"), [(7, 13), (1, 12)])
def test_session_errors_leave_the_session_alone(epoch: int, version: int) -> None:
    pair = Pair()
    pair.answer(pair.ask({0: 0})[1])
    session_id = pair.client.session_id
    context = sessions.new_context(pair.cache, 0, session_id, epoch, {}, [], True, version, NAMES)
    assert context.kind == sessions.ERROR
    assert session_id in pair.cache.sessions


def test_network_failure_closes_and_opens_again() -> None:
    pair = Pair()
    pair.answer(pair.ask({0: 0})[1])
    first = pair.client.session_id
    pair.client.fail()
    send, context = pair.ask({0: 0})
    assert (send, context.kind) == (["0"], sessions.FULL)
    pair.answer(context)
    assert first not in pair.cache.sessions, "a full request closes the session it names"
    assert pair.client.session_id in pair.cache.sessions


def test_a_full_cache_answers_without_session() -> None:
    cache = SessionCache(max_sessions=1, eviction_ms=100)
    follower = cache.create(0, True, {}, True)
    assert cache.create(50, False, {}, True) == sessions.NO_SESSION
    assert cache.create(50, True, {}, True) == sessions.NO_SESSION
    assert cache.create(101, False, {}, True) != sessions.NO_SESSION, "it was idle for too long"
    assert follower not in cache.sessions and cache.evictions == 1
    assert cache.create(102, True, {}, True) != sessions.NO_SESSION, "followers come first"


def test_answers_to_what_was_not_asked_cannot_be_used() -> None:
    client = SessionClient()
    client.build({"0": wanted(0)})
    assert client.verify(["1"], 13) == (["1"], ["0"])
    assert not client.handle(errors.NONE, 9, ["1"], 13)
    assert (client.session_id, client.epoch) == (0, 0)


# -- in a run -------------------------------------------------------------------------------------

THREE_PARTITIONS = Scenario.from_dict(
    {
        "title": "x",
        "brokers": 3,
        "partitions": [[1, 2, 3]] * 3,
        "configs": {"fetch_sessions": True},
    }
)


def played(*lines: str, profile: str = "K39") -> Simulation:
    return play_all(Run(THREE_PARTITIONS, profile, 0, lines))


def cache_of(sim: Simulation, broker: int) -> SessionCache:
    cache = sim.brokers[broker].running.sessions
    assert cache is not None
    return cache


@pytest.mark.parametrize("profile", ["K39", "Z33", "Z20"])
def test_storms_end_as_well_within_sessions(profile: str) -> None:
    scenario = find("S61").vary("fetch_sessions", True)
    scenario = scenario.vary("max.incremental.fetch.session.cache.slots", 1)
    for seed in range(4):
        sim = play_all(Run(scenario, profile, seed))
        assert sim.broken == []
        assert sum(len(one) for one in sim.ledger.acked) > 10


def test_sessions_came_with_1_1() -> None:
    assert played("produce a", "settle", profile="Z0102").brokers[1].running.sessions is None
    assert (
        played("produce a", "settle", profile="K39-fetch_sessions").brokers[1].running.sessions
        is None
    )
    assert len(cache_of(played("produce a", "settle"), 1).sessions) == 2


def test_a_restarted_leader_knows_no_session_and_gives_other_ids() -> None:
    sim = played("produce a", "settle", "set unclean.leader.election.enable=false")
    before = set(cache_of(sim, 1).sessions)
    lines = ("produce a", "settle", "kill 1", "detect 1", "restart 1", "settle", "elect 1")
    after = set(cache_of(played(*lines, "settle"), 1).sessions)
    assert len(before) == len(after) == 2 and not before & after


def test_throttled_partitions_are_forgotten_and_requested_again() -> None:
    lines = (
        "kill 3",
        "produce a b c d p=1 acks=1",
        "set follower.replication.throttled.replicas=1:3",
        "set follower.replication.throttled.rate=1000",
        "set fetch_max_records=1",
        "fetching auto",
        "restart 3",
    )

    def wanted(sim: Simulation) -> list[int]:
        sessions = cache_of(sim, 1).sessions.values()
        (mine,) = [one for one in sessions if one.owner == 3]
        return sorted(partition for _, partition in mine.partitions)

    held = played(*lines, "advance 1500")
    assert (wanted(held), held.brokers[3].replicas[1].log.leo) == ([0, 2], 2)
    done = played(*lines, "advance 9s")
    assert (wanted(done), done.brokers[3].replicas[1].log.leo) == ([0, 1, 2], 4)


def test_a_copy_has_sessions_of_its_own() -> None:
    sim = played("fetching auto", "produce a", "advance 1s")
    twin = sim.copy()
    for one in (sim, twin):
        one.run_until(5_000)
    assert cache_of(sim, 1).sessions.keys() == cache_of(twin, 1).sessions.keys()
    epochs = [[s.epoch for s in cache_of(one, 1).sessions.values()] for one in (sim, twin)]
    assert epochs[0] == epochs[1]
    for parked in twin.brokers[1].running.parked:
        context = parked.request.context
        assert context is not None and context.session is not None
        assert context.session is cache_of(twin, 1).sessions[context.session.id]


def test_sessions_may_be_switched_off_while_fetchers_have_theirs() -> None:
    sim = played("produce a", "settle", "set fetch_sessions=false", "produce b", "settle")
    assert [sim.brokers[b].replicas[0].log.leo for b in (1, 2, 3)] == [2, 2, 2]


def test_a_broker_without_sessions_answers_in_full_and_opens_none() -> None:
    """X-5."""
    sim = played("produce a", "settle", "settle", "set fetch_sessions=false")
    leader, out = sim.brokers[1].running, Effects()
    parts = [FetchPartition(tp, 0, -1, -1, 0) for tp in (0, 1, 2)]
    plain = FetchRequest(2, 1, 1, parts, 2, -1, 0, 1, 9)
    asked = SessionFetch(plain, parts, sessions.NO_SESSION, sessions.INITIAL, ())
    serving.on_fetch_request(leader, asked, out)
    (answer,) = [one for one in out.sends if isinstance(one, SessionAnswer)]
    assert (answer.error, answer.session_id) == (errors.NONE, sessions.NO_SESSION)
    assert [one.tp for one in answer.partitions] == [0, 1, 2]


def test_a_followers_session_is_privileged_and_a_broker_may_have_number_0() -> None:
    """X-5."""
    sim = play_all(Run(FROM_0, "K39", 0, ("produce a", "settle", "settle")))
    kept = sim.brokers[1].running.sessions
    assert kept is not None
    assert [(one.owner, one.privileged) for one in kept.sessions.values()] == [(0, True)]


def test_diverging_epochs_and_preferred_read_replicas_are_news() -> None:
    """X-4: sent though no records came, and neither mark nor log start is another."""
    leader = played("produce a", "settle", "settle").brokers[1].running
    cache, out = leader.sessions, Effects()
    assert cache is not None
    (session,) = [one for one in cache.sessions.values() if one.owner == 2]
    context = sessions.new_context(
        cache, 0, session.id, session.epoch, {}, [], True, NAMES_VERSION, {}
    )
    sent = [(tp, one.hw, one.log_start) for (_, tp), one in sorted(session.partitions.items())]
    assert [tp for tp, _, _ in sent] == [0, 1, 2]
    data = [FetchData(tp, errors.NONE, hw, start, ()) for tp, hw, start in sent]
    data[0].diverging = (0, 0)
    data[1] = Redirection(*sent[1], 0)
    asked = SessionRead(FetchRequest(2, 1, 1, (), 2, -1, 0, 1, 9), (), context)
    answer_in_session(leader, asked, data, out)
    (answer,) = [one for one in out.sends if isinstance(one, SessionAnswer)]
    assert (answer.error, [one.tp for one in answer.partitions]) == (errors.NONE, [0, 1])


@pytest.mark.parametrize(
    ("epoch", "known", "asks"),
    [(3, [0], True), (3, [], False), (sessions.INITIAL, [0], False), (sessions.INITIAL, [], False)],
)
def test_a_session_whose_partitions_are_all_held_up_is_told_to_forget_them(
    epoch: int, known: list[int], asks: bool
) -> None:
    """X-6: if there is one, and it knows of any; else nothing is sent."""
    follower = play_all(Run(FROM_0, "K39", 0, ("settle", "settle"))).brokers[0].running
    (thread,) = follower.fetchers.values()
    assert thread.session is not None
    thread.session.epoch = epoch
    thread.session.partitions = {str(tp): wanted(0) for tp in known}
    sent = fetch_request.build_fetch(follower, thread, [])
    assert (sent is not None) is asks is bool(thread.outstanding)
    if asks:
        assert isinstance(sent, SessionFetch)
        assert (sent.session_epoch, sent.partitions, sent.forgotten) == (3, [], [0])
    thread.session, thread.outstanding = None, 0
    assert fetch_request.build_fetch(follower, thread, []) is None
