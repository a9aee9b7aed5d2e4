"""Incremental fetch sessions, the leader's side (data-plane, X-2 - X-5; KIP-227, 1.1).

A session remembers which partitions a fetcher wants and what it was last sent of them, so that
requests carry only changes and answers only news.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from engine.model.compiling import mypyc_attr
from engine.model.copying import Twins, fields, shallow
from engine.model.declared import begins, declared, unset
from engine.model.errors import (
    FETCH_SESSION_ID_NOT_FOUND,
    FETCH_SESSION_TOPIC_ID_ERROR,
    INVALID_FETCH_SESSION_EPOCH,
    NONE,
)

NO_SESSION: Final = 0
INITIAL: Final = 0  # a full request that opens a session
FINAL: Final = -1  # a full request that closes it, or wants none
LAST_EPOCH: Final = (1 << 31) - 1
TOPIC_IDS_SINCE: Final = 13  # Fetch versions from here on name topics by id (KIP-516)

SESSIONLESS: Final = "sessionless"
FULL: Final = "full"
INCREMENTAL: Final = "incremental"
ERROR: Final = "error"

Key = tuple[str, int]
"""(topic id, or the topic's name before version 13; partition)."""


def next_epoch(epoch: int) -> int:
    """X-2.  Return the next epoch; 1 after the largest int32, as 0 would open a new session."""
    if epoch < 0:
        return FINAL
    return 1 if epoch == LAST_EPOCH else epoch + 1


@declared
class PartitionRequest:
    """Fields of a request for one partition; None stands for a field that it leaves out."""

    offset: int
    log_start: int
    max_records: int
    leader_epoch: int | None
    last_epoch: int | None
    topic_id: str | None

    def same(self, other: PartitionRequest) -> bool:
        """X-6.  Check whether every field agrees, so that the partition need not be sent again."""
        return all(
            getattr(self, field) == getattr(other, field) for field in fields(PartitionRequest)
        )


@declared
class PartitionAnswer:
    """Result of reading one partition, as far as it decides whether there is news."""

    hw: int
    log_start: int
    records: int = 0
    error: int = NONE
    diverging: bool = False


@declared
class CachedPartition:
    """One partition of a session.

    `topic` is None until the broker knows the id's name; once known it stays.  `hw` and `log_start`
    are those last sent, -1 for none.
    """

    topic: str | None
    partition: int
    wanted: PartitionRequest
    hw: int = begins(-1)
    log_start: int = begins(-1)

    def take_news(self, answer: PartitionAnswer) -> bool:
        """X-4.  Check whether this answer must be sent, and remember it if so.

        After an error the high watermark counts as never sent, so that the partition is sent again
        once the error is gone.
        """
        news = answer.records > 0 or answer.error != NONE or answer.diverging
        if self.hw != answer.hw or self.log_start != answer.log_start:
            news = True
        self.hw = -1 if answer.error != NONE else answer.hw
        self.log_start = answer.log_start
        return news


@declared
class Session:
    """X-2, X-5.  Partitions in the order in which they are read; times in ms."""

    id: int
    privileged: bool
    partitions: dict[Key, CachedPartition]
    uses_ids: bool
    created_ms: int
    owner: int | None = begins(None)  # the node that opened it, for observers
    used_ms: int = unset()
    epoch: int = begins(next_epoch(INITIAL))
    cached_size: int = unset()
    by_all: bool = begins(False)  # may any new session evict it?
    by_privileged: bool = begins(False)  # may a follower's?

    def __post_init__(self) -> None:
        self.used_ms = self.created_ms
        self.cached_size = len(self.partitions)

    def twin(self, twins: Twins) -> Session:
        twin = shallow(self)
        twin.partitions = _copied(self.partitions)
        return twin

    def value(self) -> tuple[bool, int, int]:
        """X-5.  Return the order of eviction: unprivileged first, fewer partitions, lower id."""
        return self.privileged, self.cached_size, self.id


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class SessionCache:
    """X-5.  The sessions of one broker.  `eviction_ms`: idle for longer, any may evict it.

    Session ids are drawn at random in Kafka; all that matters is that they differ, also from those
    of a former process: ids come after `last_id`.  `evicted` gave way last.
    """

    __slots__ = ("_last_id", "evicted", "eviction_ms", "evictions", "max_sessions", "sessions")

    def __init__(
        self, max_sessions: int = 1_000, eviction_ms: int = 120_000, last_id: int = NO_SESSION
    ) -> None:
        self.max_sessions = max_sessions
        self.eviction_ms = eviction_ms
        self.sessions: dict[int, Session] = {}
        self.evictions = 0
        self.evicted: Session | None = None
        self._last_id = last_id

    def twin(self, twins: Twins) -> SessionCache:
        twin = shallow(self)
        twin.sessions = {id: twins.of(session) for id, session in self.sessions.items()}
        twin.evicted = self.evicted and twins.of(self.evicted)
        return twin

    def create(
        self, now: int, privileged: bool, partitions: dict[Key, CachedPartition], uses_ids: bool
    ) -> int:
        """X-5.  Return the new session's id, or 0 if there is no room and no session to evict."""
        if len(self.sessions) >= self.max_sessions and not self._evict(
            now, privileged, len(partitions)
        ):
            return NO_SESSION
        self._last_id += 1
        session = Session(self._last_id, privileged, partitions, uses_ids, now)
        self.sessions[session.id] = session
        self.touch(session, now)
        return session.id

    def _evict(self, now: int, privileged: bool, size: int) -> bool:
        """X-5.  Evict the session that is longest idle, if it is stale.

        Else evict the least valuable that may go, unless it is worth more than the newcomer.
        """
        if not self.sessions:
            return False
        victim = min(self.sessions.values(), key=lambda s: (s.used_ms, s.id))
        if now - victim.used_ms <= self.eviction_ms:
            evictable = [
                s for s in self.sessions.values() if (s.by_privileged if privileged else s.by_all)
            ]
            if not evictable:
                return False
            victim = min(evictable, key=Session.value)
            if (privileged, size, NO_SESSION) < victim.value():
                return False
        self.remove(victim.id)
        self.evicted = victim
        self.evictions += 1
        return True

    def touch(self, session: Session, now: int) -> None:
        """X-5.  Note a use of a session: its size, and which sessions may evict it."""
        session.used_ms = now
        session.cached_size = len(session.partitions)
        old = now - session.created_ms > self.eviction_ms
        session.by_all = old
        session.by_privileged = old or not session.privileged

    def remove(self, session_id: int) -> None:
        self.sessions.pop(session_id, None)


@declared
class FetchContext:
    """X-3.  Partitions of one request to be read, and the form of its answer."""

    kind: str
    partitions: dict[Key, CachedPartition]
    error: int = NONE
    session: Session | None = None
    epoch: int = INITIAL
    follower: bool = False
    uses_ids: bool = False

    def twin(self, twins: Twins) -> FetchContext:
        """Return a copy; an incremental request reads the very partitions of its session."""
        twin = shallow(self)
        twin.session = self.session and twins.of(self.session)
        if self.session is not None and self.partitions is self.session.partitions:
            assert twin.session is not None
            twin.partitions = twin.session.partitions
        else:
            twin.partitions = _copied(self.partitions)
        return twin

    def overtaken(self) -> bool:
        """X-4.  Check whether the session's epoch moved on while this request was parked."""
        return self.session is not None and self.session.epoch != next_epoch(self.epoch)


def new_context(
    cache: SessionCache,
    now: int,
    session_id: int,
    epoch: int,
    wishes: Mapping[Key, PartitionRequest],
    forgotten: Iterable[Key],
    follower: bool,
    version: int,
    topic_names: Mapping[str, str],
    ages_from_start: bool = False,
) -> FetchContext:
    """X-3.  Turn a request into what is to be read.

    `topic_names`: the names of the topic ids that this broker can resolve now (version 13);
    `ages_from_start`: a use is not noted (`FetchManager.newContext` at 2.4.0, KAFKA-9137).
    """
    uses_ids = version >= TOPIC_IDS_SINCE
    partitions = _partitions(wishes, uses_ids, topic_names)
    if epoch in (INITIAL, FINAL):
        cache.remove(session_id)
        kind = SESSIONLESS if epoch == FINAL else FULL
        return FetchContext(kind, partitions, follower=follower, uses_ids=uses_ids)
    session = cache.sessions.get(session_id)
    if session is None:
        return FetchContext(ERROR, {}, FETCH_SESSION_ID_NOT_FOUND)
    if session.epoch != epoch:
        return FetchContext(ERROR, {}, INVALID_FETCH_SESSION_EPOCH)
    if session.uses_ids != uses_ids:
        return FetchContext(ERROR, {}, FETCH_SESSION_TOPIC_ID_ERROR)
    for key, new in partitions.items():
        cached_partition = session.partitions.setdefault(key, new)
        cached_partition.wanted = new.wanted
    for key in forgotten:
        session.partitions.pop(key, None)
    if not session.partitions:
        cache.remove(session_id)
        return FetchContext(SESSIONLESS, partitions)
    if not ages_from_start:
        cache.touch(session, now)
    elif len(session.partitions) != session.cached_size:
        cache.touch(session, session.used_ms)
    session.epoch = next_epoch(session.epoch)
    for (topic, _), cached in session.partitions.items():
        if cached.topic is None:
            cached.topic = topic_names.get(topic)
    return FetchContext(INCREMENTAL, session.partitions, session=session, epoch=epoch)


def _copied(partitions: dict[Key, CachedPartition]) -> dict[Key, CachedPartition]:
    return {key: shallow(cached) for key, cached in partitions.items()}


def _partitions(
    wishes: Mapping[Key, PartitionRequest], uses_ids: bool, topic_names: Mapping[str, str]
) -> dict[Key, CachedPartition]:
    return {
        key: CachedPartition(topic_names.get(key[0]) if uses_ids else key[0], key[1], wish)
        for key, wish in wishes.items()
    }


def respond(
    cache: SessionCache,
    context: FetchContext,
    now: int,
    answers: Mapping[Key, PartitionAnswer],
    news_goes_last: bool = False,
) -> tuple[int, int, list[Key]]:
    """X-4.  Return (error, session id, the partitions that are sent).

    A full answer sends everything and opens a session if it can (X-5).  An incremental one sends
    the news; a partition that got records moves to the end of the session's order, until 2.8 any
    partition with news (`FetchSession.IncrementalFetchContext` at 2.8.2, KAFKA-12330).
    """
    if context.error:
        return context.error, NO_SESSION, []
    session = context.session
    if session is None:
        if context.kind == FULL:
            return NONE, _open(cache, context, now, answers), list(answers)
        return NONE, NO_SESSION, list(answers)
    if context.overtaken():
        return INVALID_FETCH_SESSION_EPOCH, session.id, []
    sent = []
    for key, answer in answers.items():
        if session.partitions[key].take_news(answer):
            sent.append(key)
            if answer.records > 0 or news_goes_last:
                session.partitions[key] = session.partitions.pop(key)
    return NONE, session.id, sent


def _open(
    cache: SessionCache, context: FetchContext, now: int, answers: Mapping[Key, PartitionAnswer]
) -> int:
    cached = {}
    for key, answer in answers.items():
        partition = cached[key] = context.partitions[key]
        partition.hw, partition.log_start = answer.hw, answer.log_start
    return cache.create(now, context.follower, cached, context.uses_ids)


def throttled(context: FetchContext) -> tuple[int, int]:
    """Return (error, session id) of an answer with only a throttle time (KIP-219)."""
    if context.session is None:
        return context.error, NO_SESSION
    if context.overtaken():
        return INVALID_FETCH_SESSION_EPOCH, context.session.id
    return NONE, context.session.id
