"""Subjects `fetch_session_server`, `fetch_session_cache` and `fetch_session_client`."""

from __future__ import annotations

from engine.model import sessions
from engine.model.errors import code_of, name_of
from engine.model.session_client import SessionClient
from engine.model.sessions import (
    CachedPartition,
    FetchContext,
    Key,
    PartitionAnswer,
    PartitionRequest,
    SessionCache,
)
from tests.conformance.adapter import NONE, Adapter, Fields


def topic_of(tp: str) -> tuple[str, int]:
    """Convert "foo-1" to ("foo", 1)."""
    topic, index = tp.rsplit("-", 1)
    return topic, int(index)


def wanted_of(one: Fields) -> PartitionRequest:
    """Return one partition of a request as a case writes it."""
    topic, _ = topic_of(one["tp"])
    return PartitionRequest(
        one["offset"],
        one.get("log_start", 0),
        one.get("max_bytes", 100),
        one.get("leader_epoch"),
        one.get("last_fetched_epoch"),
        one.get("topic_id", f"id({topic})"),
    )


class SessionServerCase(Adapter):
    """`fetch_session_server`: X-3, X-4."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.cache = SessionCache(given.get("max_sessions", 10), given.get("eviction_ms", 1_000))
        self.now = given.get("now_ms", 0)
        self.known = given.get("known_topics")
        self.texts: dict[Key, str] = {}
        self.names: dict[str, str] = {}
        self.contexts: dict[str, FetchContext] = {}
        self.latest: FetchContext | None = None

    def perform(self, operation: Fields) -> None:
        super().perform(operation)
        if operation["op"] == "fetch" and "as" in operation and self.latest is not None:
            self.contexts[operation["as"]] = self.latest

    def _context(self, a: Fields) -> FetchContext:
        label = a.get("context")
        context = self.latest if label is None else self.contexts[label]
        assert context is not None
        return context

    def _key(self, tp: str, topic_id: str | None, version: int) -> Key:
        topic, index = topic_of(tp)
        by_id = version >= sessions.TOPIC_IDS_SINCE and topic_id is not None
        key = (topic_id if by_id and topic_id is not None else topic, index)
        self.texts[key] = tp
        if topic_id is not None:
            self.names[topic_id] = topic
        return key

    def _forgotten(
        self, session_id: int, tps: list[str], wanted: dict[Key, PartitionRequest]
    ) -> list[Key]:
        """Return the session's partitions that a request forgets.

        Of one that it also names, that is what stands under another topic id; without such, the
        very partition that it names.
        """
        session = self.cache.sessions.get(session_id)
        known = dict.fromkeys((*(() if session is None else session.partitions), *wanted))
        meant = [key for key in known if self.texts[key] in tps]
        renamed = {self.texts[key] for key in meant if key not in wanted}
        return [key for key in meant if key not in wanted or self.texts[key] not in renamed]

    def op_fetch(self, a: Fields) -> Fields:
        self.known = a.get("known_topics", self.known)
        version = a.get("version", 13)
        wanted: dict[Key, PartitionRequest] = {}
        for one in a.get("partitions", ()):
            new = wanted_of(one)
            wanted[self._key(one["tp"], new.topic_id, version)] = new
        names = {i: n for i, n in self.names.items() if self.known is None or n in self.known}
        context = self.latest = sessions.new_context(
            self.cache,
            self.now,
            a["session_id"],
            a["epoch"],
            wanted,
            self._forgotten(a["session_id"], a.get("forget", []), wanted),
            a.get("from_follower", False),
            version,
            names,
        )
        read = [(self.texts[key], cached) for key, cached in context.partitions.items()]
        return {
            "kind": context.kind,
            "error": name_of(context.error),
            "partitions": [tp for tp, _ in read],
            "unresolved": sorted(tp for tp, cached in read if cached.topic is None),
            "offsets": {tp: cached.wanted.offset for tp, cached in read},
            "leader_epochs": {tp: cached.wanted.leader_epoch for tp, cached in read},
            "last_fetched_epochs": {tp: cached.wanted.last_epoch for tp, cached in read},
        }

    def op_respond(self, a: Fields) -> Fields:
        context = self._context(a)
        keys = {self.texts[key]: key for key in context.partitions}
        answers = {}
        for one in a.get("data", ()):
            error = code_of(one.get("error", NONE))
            answer = PartitionAnswer(
                one["hw"],
                one["log_start"],
                one.get("records", 0),
                error,
                one.get("diverging") is not None,
            )
            if one["tp"] in keys:
                answers[keys[one["tp"]]] = answer
        error, session_id, sent = sessions.respond(self.cache, context, self.now, answers)
        return {
            "error": name_of(error),
            "session_id": session_id,
            "partitions": [self.texts[key] for key in sent],
            "errors": {
                self.texts[key]: name_of(answers[key].error) for key in sent if answers[key].error
            },
        }

    def op_throttle(self, a: Fields) -> Fields:
        error, session_id = sessions.throttled(self._context(a))
        return {"error": name_of(error), "session_id": session_id, "throttle_ms": a["ms"]}

    def op_order(self, a: Fields) -> Fields:
        return {"partitions": [self.texts[key] for key in self._context(a).partitions]}

    def op_advance_time(self, a: Fields) -> Fields:
        self.now += a["ms"]
        return {}

    def op_sessions(self, a: Fields) -> Fields:
        return {"count": len(self.cache.sessions)}

    def op_has_session(self, a: Fields) -> Fields:
        return {"present": a["session_id"] in self.cache.sessions}


class SessionCacheCase(Adapter):
    """`fetch_session_cache`: X-5."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.cache = SessionCache(given["max_sessions"], given["eviction_ms"])

    def op_create(self, a: Fields) -> Fields:
        wanted = PartitionRequest(0, 0, 100, None, None, None)
        partitions: dict[Key, CachedPartition] = {
            ("t", index): CachedPartition("t", index, wanted) for index in range(a["partitions"])
        }
        created = self.cache.create(a["now_ms"], a.get("privileged", False), partitions, True)
        return {"session_id": created}

    def op_touch(self, a: Fields) -> Fields:
        self.cache.touch(self.cache.sessions[a["session_id"]], a["now_ms"])
        return {}

    def op_remove(self, a: Fields) -> Fields:
        self.cache.remove(a["session_id"])
        return {}

    def op_drop_partitions(self, a: Fields) -> Fields:
        partitions = self.cache.sessions[a["session_id"]].partitions
        for key in list(partitions)[: a["count"]]:
            del partitions[key]
        return {}

    def op_has_session(self, a: Fields) -> Fields:
        return {"present": a["session_id"] in self.cache.sessions}

    def op_state(self, a: Fields) -> Fields:
        return {
            "count": len(self.cache.sessions),
            "partitions": sum(one.cached_size for one in self.cache.sessions.values()),
            "evictions": self.cache.evictions,
        }


class SessionClientCase(Adapter):
    """`fetch_session_client`: X-6."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.client = SessionClient()

    def op_build(self, a: Fields) -> Fields:
        request = self.client.build({one["tp"]: wanted_of(one) for one in a["partitions"]})
        return {
            "session_id": request.session_id,
            "epoch": request.epoch,
            "full": request.full,
            "send": request.send,
            "forget": sorted(request.forget),
            "replace": sorted(request.replaced),
            "session": list(self.client.partitions),
            "use_topic_ids": request.use_topic_ids,
        }

    def op_handle(self, a: Fields) -> Fields:
        error = code_of(a.get("error", NONE))
        ok = self.client.handle(
            error, a.get("session_id", 0), a.get("partitions", ()), a.get("version", 13)
        )
        return {"ok": ok}

    def op_verify_full(self, a: Fields) -> Fields:
        extra, omitted = self.client.verify(a.get("partitions", ()), a.get("version", 12))
        return {"extra": bool(extra), "omitted": bool(omitted)}
