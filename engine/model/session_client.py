"""Incremental fetch sessions, the fetcher's side (data-plane, X-6; KIP-227)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh
from engine.model.errors import FETCH_SESSION_ID_NOT_FOUND, NONE
from engine.model.sessions import INITIAL, NO_SESSION, TOPIC_IDS_SINCE, PartitionRequest, next_epoch


class SessionRequest:
    """Contents of the next request.

    `replaced`: partitions whose topic was deleted and recreated, so that the old id must be
    forgotten.
    """

    __slots__ = ("epoch", "forget", "full", "replaced", "send", "session_id", "use_topic_ids")

    def __init__(self, session_id: int, epoch: int) -> None:
        self.session_id = session_id
        self.epoch = epoch
        self.full = epoch == INITIAL
        self.send: list[str] = []
        self.forget: list[str] = []
        self.replaced: list[str] = []
        self.use_topic_ids = False


@declared
class SessionClient:
    """X-6.  The session of one fetcher with one broker; partitions by name, in order."""

    session_id: int = begins(NO_SESSION)
    epoch: int = begins(INITIAL)
    partitions: dict[str, PartitionRequest] = fresh(dict)
    has_ids: bool = begins(False)  # may the partitions of an answer be named by topic id?

    def copy(self) -> SessionClient:
        twin = shallow(self)
        twin.partitions = self.partitions.copy()
        return twin

    def build(self, wishes: Mapping[str, PartitionRequest]) -> SessionRequest:
        """X-6.  Build the next request, full or incremental.

        A full request names everything; an incremental one what is new or has changed, and what is
        not wanted any more.  Ids may be used only if every partition has one.
        """
        request = SessionRequest(self.session_id, self.epoch)
        use_ids = all(wish.topic_id is not None for wish in wishes.values())
        if request.full:
            self.partitions = dict(wishes)
            request.send = list(wishes)
        else:
            changed = []
            for name, old in list(self.partitions.items()):
                new = wishes.get(name)
                if new is None:
                    del self.partitions[name]
                    request.forget.append(name)
                    use_ids = use_ids and old.topic_id is not None
                elif not old.same(new):
                    self.partitions[name] = new
                    changed.append(name)
                    if None not in (old.topic_id, new.topic_id) and (old.topic_id != new.topic_id):
                        request.replaced.append(name)
            added = [name for name in wishes if name not in self.partitions]
            for name in added:
                self.partitions[name] = wishes[name]
            request.send = added + changed
        request.use_topic_ids = self.has_ids = use_ids
        return request

    def handle(self, error: int, session_id: int, partitions: Iterable[str], version: int) -> bool:
        """X-6.  Note an answer for the next request; False if the answer cannot be used.

        A session error costs one round trip and touches no partition.
        """
        if error == FETCH_SESSION_ID_NOT_FOUND:
            self._next(NO_SESSION, INITIAL)
            return False
        if error != NONE:
            self.fail()
            return False
        full = self.epoch == INITIAL
        extra, omitted = self.verify(partitions, version)
        if extra or (full and omitted):
            if full:
                self._next(NO_SESSION, INITIAL)
            else:
                self.fail()
            return False
        if session_id == NO_SESSION:
            self._next(NO_SESSION, INITIAL)
        else:
            self._next(session_id, next_epoch(self.epoch))
        return True

    def verify(self, partitions: Iterable[str], version: int) -> tuple[list[str], list[str]]:
        """X-6.  Return (partitions in the answer not asked for, missing partitions).

        From version 13 on an answer names topics by ids that only this session can resolve.
        """
        answered = list(partitions)
        if version >= TOPIC_IDS_SINCE and not self.has_ids:
            return answered, list(self.partitions)
        extra = [name for name in answered if name not in self.partitions]
        omitted = [name for name in self.partitions if name not in answered]
        return extra, omitted

    def fail(self) -> None:
        """X-6.  Close the session after any other error and open a new one."""
        self._next(self.session_id, INITIAL)

    def _next(self, session_id: int, epoch: int) -> None:
        self.session_id = session_id
        self.epoch = epoch
