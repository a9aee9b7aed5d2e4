"""Builds fetch requests and validates their responses, with and without sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.last_fetch import SentFetch
from engine.model.messages import (
    NO_EPOCH,
    FetchChanges,
    FetchData,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    Oversized,
)
from engine.model.profiles import FETCH
from engine.model.session_client import SessionClient
from engine.model.session_messages import SessionAnswer, SessionFetch
from engine.model.sessions import INITIAL, PartitionRequest
from engine.model.state import FETCHING, FetcherThread, PartitionFetchState

NAMES_VERSION: Final = 12  # the last Fetch that names topics: played topics have no ids
MANY: Final = 6
"""Partitions of a fetcher from which on it remembers its last fetch; fewer are as fast to visit."""


def ready_parts(broker: Process, thread: FetcherThread, out: Effects) -> list[FetchPartition]:
    """F-5.  Return what is fetched now: of every partition that is neither truncating nor late."""
    parts = []
    now = out.now
    for state in thread.partitions.values():
        if state.state == FETCHING and state.delay_until <= now:
            if broker.quotas is not None and broker.quotas.follower_holds_back(
                state.tp, broker.id, state.lag, now
            ):
                out.cue("Q-3", broker.id, "held back", None, state.tp, tp=state.tp)
                continue
            parts.append(_part(broker, state))
    return parts


def _part(broker: Process, state: PartitionFetchState) -> FetchPartition:
    replica = broker.replicas[state.tp]
    profile = replica.profile
    state.asked = state.offset
    state.asked_epoch = state.leader_epoch
    return FetchPartition(
        state.tp,
        state.offset,
        state.last_epoch if profile.truncation == FETCH else NO_EPOCH,
        state.leader_epoch if profile.fetch_epoch_check else NO_EPOCH,
        replica.log.log_start,
    )


# -- what did not change since the last fetch ------------------------------------------------------


def _remembers(broker: Process, thread: FetcherThread, parts: Sequence[FetchPartition]) -> bool:
    """Check whether the next fetch may be built from this one, and its answer read by its news.

    Quotas count what they hold back, a session has a memory of its own, and until 0.11 one unknown
    partition spoils a whole answer, in 2.4 and 2.5 a high watermark does not wait.
    """
    profile, configs = broker.profile, broker.configs
    return (
        MANY <= len(parts) == len(thread.partitions)
        and thread.session is None
        and broker.quotas is None
        and broker.machine.auto_fetch
        and configs.fetch_limits.at_least <= 1
        and configs.fetch_wait_max_ms > 0
        and not profile.hw_sent_at_once
        and not profile.stranger_spoils_fetch
    )


def repeat_fetch(
    broker: Process, thread: FetcherThread, sent: SentFetch, now: int
) -> FetchRequest | None:
    """F-5.  Return the last request with what has changed since; None if it must be built whole."""
    if not sent.answered:
        return None
    for tp in sent.unsettled:
        state = thread.partitions.get(tp)
        if state is None or state.state != FETCHING or state.delay_until > now:
            thread.forget_sent()
            return None
        sent.parts[tp] = _part(broker, state)
    return _request(broker, thread, list(sent.parts.values()), sent.changes())


def note_answer(broker: Process, thread: FetcherThread, sent: SentFetch, m: FetchResponse) -> None:
    """F-7.  Note which partitions need not be visited until something happens to them."""
    unsettled = set()  # another one, as a set that has been large is slow to walk through
    for data in m.partitions if m.news is None else m.news:
        tp = data.tp
        state = thread.partitions.get(tp)
        if state is not None and _is_settled(broker, state, sent.parts[tp], data):
            state.asked = state.offset  # in each fetch that goes out
        else:
            unsettled.add(tp)
    sent.unsettled = unsettled
    sent.answered = m.corr


def _is_settled(
    broker: Process, state: PartitionFetchState, part: FetchPartition, data: FetchData
) -> bool:
    """Check that an answer was handled, and the same one to the same request changes nothing."""
    log = broker.replicas[state.tp].log
    return (
        state.asked < 0
        and not data.error
        and not data.batches
        and data.diverging is None
        and not isinstance(data, Oversized)
        and state.offset == part.offset == log.leo
        and log.log_start == part.log_start
    )


# -- requests and responses -----------------------------------------------------------------------


def build_fetch(
    broker: Process, thread: FetcherThread, parts: list[FetchPartition]
) -> FetchRequest | None:
    """F-5, X-6.  Return the request for the partitions that are ready; None if it would be empty.

    For a session whose partitions are all held up the request forgets them.
    """
    session = thread.session
    if not parts and (session is None or session.epoch == INITIAL or not session.partitions):
        return None
    changes = None
    thread.sent = None
    if _remembers(broker, thread, parts):
        thread.sent = SentFetch(parts)
        changes = FetchChanges(0, (), ())
    request = _request(broker, thread, parts, changes)
    return request if session is None else in_session(session, request)


def _request(
    broker: Process,
    thread: FetcherThread,
    parts: Sequence[FetchPartition],
    changes: FetchChanges | None,
) -> FetchRequest:
    configs = broker.configs
    thread.outstanding = broker.next_corr()
    return FetchRequest(
        broker.id,
        thread.leader,
        thread.outstanding,
        parts,
        broker.id,
        broker.broker_epoch if broker.profile.isr_broker_epoch else NO_EPOCH,
        configs.fetch_wait_max_ms,
        configs.fetch_limits.at_least,
        configs.fetch_max_records,
        limits=configs.fetch_limits,
        changes=changes,
    )


def in_session(session: SessionClient, m: FetchRequest) -> SessionFetch:
    """X-6.  Build a request with only those wanted partitions that the leader does not know yet."""
    parts = {str(fp.tp): fp for fp in m.partitions}
    said = session.build(
        {
            name: PartitionRequest(
                fp.offset, fp.log_start, m.max_records, fp.leader_epoch, fp.last_epoch, None
            )
            for name, fp in parts.items()
        }
    )
    return SessionFetch(
        m,
        [parts[name] for name in said.send],
        said.session_id,
        said.epoch,
        [int(name) for name in said.forget],
    )


def accepts(node: int, session: SessionClient, m: FetchResponse, out: Effects) -> bool:
    """X-6.  Check an answer; a session error touches no partition, and costs one round trip."""
    assert isinstance(m, SessionAnswer)
    if m.error:
        out.cue("X-6", node, "error", session.session_id, m.error)
    names = [str(data.tp) for data in m.partitions]
    return session.handle(m.error, m.session_id, names, NAMES_VERSION)
