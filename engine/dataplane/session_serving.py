"""The leader's side of a Fetch within a session: what is read for it, and what of it is news."""

from __future__ import annotations

from collections.abc import Sequence

from engine.dataplane.fetch_request import NAMES_VERSION
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import (
    NO_EPOCH,
    FetchData,
    FetchPartition,
    Redirection,
)
from engine.model.quotas import TOPIC
from engine.model.session_messages import SessionAnswer, SessionFetch, SessionRead
from engine.model.sessions import (
    FULL,
    NO_SESSION,
    CachedPartition,
    PartitionAnswer,
    PartitionRequest,
    SessionCache,
    new_context,
    respond,
)


def _cache(broker: Process) -> SessionCache:
    """Return the broker's session cache; with sessions off it has room for none."""
    return SessionCache(0) if broker.sessions is None else broker.sessions


def take_context(broker: Process, m: SessionFetch, out: Effects) -> SessionRead | None:
    """S-1, X-3.  Return every partition of the session, listed or not.

    None if the request ends with a session error.
    """
    wishes = {
        (TOPIC, fp.tp): PartitionRequest(
            fp.offset, fp.log_start, m.max_records, fp.leader_epoch, fp.last_epoch, None
        )
        for fp in m.partitions
    }
    context = new_context(
        _cache(broker),
        out.now,
        m.session_id,
        m.session_epoch,
        wishes,
        [(TOPIC, tp) for tp in m.forgotten],
        m.replica >= 0,
        NAMES_VERSION,
        {},
        broker.profile.sessions_age_from_start,
    )
    if context.error:
        out.cue("X-3", broker.id, "error", m.src, context.error)
        out.send(SessionAnswer(broker.id, m.src, m.corr, (), context.error, NO_SESSION))
        return None
    checks_epoch = context.kind == FULL or not broker.profile.session_forgets_epoch
    parts = [_part(partition, checks_epoch) for partition in context.partitions.values()]
    return SessionRead(m, parts, context)


def _part(cached: CachedPartition, checks_epoch: bool) -> FetchPartition:
    """X-3.  Read a cached partition; from 2.1 to 2.4 without the leader epoch (KAFKA-9338).

    `FetchSession.CachedPartition.reqData` at 2.4.1 has no currentLeaderEpoch.
    """
    wish = cached.wanted
    last = NO_EPOCH if wish.last_epoch is None else wish.last_epoch
    leader = NO_EPOCH
    if checks_epoch and wish.leader_epoch is not None:
        leader = wish.leader_epoch
    return FetchPartition(cached.partition, wish.offset, last, leader, wish.log_start)


def answer_in_session(
    broker: Process,
    m: SessionRead,
    data: Sequence[FetchData],
    out: Effects,
) -> None:
    """X-4, X-5.  Answer with the partitions with news; a full one opens a session if it can."""
    cache, context = _cache(broker), m.context
    answers = {
        (TOPIC, part.tp): PartitionAnswer(
            part.hw,
            part.log_start,
            sum(len(batch.values) for batch in part.batches),
            part.error,
            part.diverging is not None or isinstance(part, Redirection),
        )
        for part in data
    }
    evictions = cache.evictions
    news_goes_last = broker.profile.marks_lose_their_turn
    error, session_id, sent = respond(cache, context, out.now, answers, news_goes_last)
    if cache.evictions > evictions and cache.evicted is not None:
        out.cue("X-5.evicted", broker.id, "session", cache.evicted.id, cache.evicted.owner)
    if context.kind == FULL:
        if session_id:
            cache.sessions[session_id].owner = m.src
        out.cue("X-5", broker.id, "session", m.src, session_id)
    else:
        out.cue("X-4", broker.id, "news", len(data), len(sent))
    news = {tp for _, tp in sent}
    chosen = [part for part in data if part.tp in news]
    out.send(SessionAnswer(broker.id, m.src, m.corr, chosen, error, session_id))
