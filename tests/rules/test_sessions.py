"""X-2 - X-6: incremental fetch sessions, both sides talking to each other."""

from __future__ import annotations

import pytest

from engine.dataplane import sessions
from engine.dataplane.session_client import SessionClient
from engine.dataplane.sessions import Answer, FetchContext, Key, SessionCache, Wanted
from engine.model import errors

NAMES = {"id": "t"}


def wanted(offset: int) -> Wanted:
    return Wanted(offset, 0, 100, None, None, "id")


class Pair:
    """A fetcher and the leader's cache, with everything sent as on the wire."""

    def __init__(self) -> None:
        self.client = SessionClient()
        self.cache = SessionCache(max_sessions=1)

    def ask(self, offsets: dict[int, int]) -> tuple[list[str], FetchContext]:
        request = self.client.build({str(p): wanted(o) for p, o in offsets.items()})
        keys: dict[Key, Wanted] = {("id", int(p)): wanted(offsets[int(p)]) for p in request.send}
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
        answers = {key: Answer(5, 0, records.get(f"p{key[1]}", 0)) for key in context.partitions}
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


def test_network_failure_closes_and_opens_anew() -> None:
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
