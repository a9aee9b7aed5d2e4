"""Fetches within a session, and their answers (data-plane, X-; KIP-227)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.compiling import mypyc_attr
from engine.model.copying import Twins
from engine.model.messages import FetchData, FetchPartition, FetchRequest, FetchResponse
from engine.model.sessions import FetchContext


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class SessionFetch(FetchRequest):
    """A Fetch within a session (KIP-227): `partitions` are those that are new or have changed."""

    __slots__ = ("forgotten", "session_epoch", "session_id")

    def __init__(
        self,
        plain: FetchRequest,
        partitions: Sequence[FetchPartition],
        session_id: int,
        session_epoch: int,
        forgotten: Sequence[int],
    ) -> None:
        _copy_fetch(self, plain, partitions)
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.forgotten = forgotten


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class SessionRead(FetchRequest):
    """Partitions that a leader reads for a Fetch within a session: all of it.  Never sent."""

    __slots__ = ("context",)

    def __init__(
        self, asked: FetchRequest, partitions: Sequence[FetchPartition], context: FetchContext
    ) -> None:
        _copy_fetch(self, asked, partitions)
        self.context = context

    def twin(self, twins: Twins) -> SessionRead:
        """Return a copy with the copied session: this is no wire message, but refers to one."""
        return SessionRead(self, self.partitions, twins.of(self.context))


def _copy_fetch(m: FetchRequest, plain: FetchRequest, partitions: Sequence[FetchPartition]) -> None:
    FetchRequest.__init__(
        m,
        plain.src,
        plain.dst,
        plain.corr,
        partitions,
        plain.replica,
        plain.replica_epoch,
        plain.max_wait,
        plain.min_bytes,
        plain.max_records,
        plain.rack,
        plain.limits,
    )


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class SessionAnswer(FetchResponse):
    """Within a session: `partitions` are those with news.  `error` is of the whole request."""

    __slots__ = ("error", "session_id")

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        partitions: Sequence[FetchData],
        error: int,
        session_id: int,
    ) -> None:
        FetchResponse.__init__(self, src, dst, corr, partitions)
        self.error = error
        self.session_id = session_id
