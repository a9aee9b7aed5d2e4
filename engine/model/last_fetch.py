"""Memory of a fetcher's last fetch, at both of its ends, so that only news is looked at.

A partition is *settled* while its part of the request and of the answer would be as they were: the
follower is in the ISR and at the end of a log that has not changed.  All the others are visited at
every fetch.  This is no part of the protocol, and a copy of a cluster begins without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.model.compiling import mypyc_attr
from engine.model.declared import begins, declared, fresh, unset
from engine.model.messages import (
    FetchChanges,
    FetchData,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)

IMPLIED: Final = frozenset(("changes", "news"))
"""Fields of messages that say again what `partitions` says: they are no part of what is sent."""


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class SentFetch:
    """A fetcher's last fetch.

    `parts` are in the order of the request, `moved` those that have gone last in the queue since.
    `answered` is its number once the answer was handled, before that 0.
    """

    __slots__ = ("answered", "moved", "parts", "unsettled")

    def __init__(self, parts: Iterable[FetchPartition]) -> None:
        self.answered = 0
        self.parts = {fp.tp: fp for fp in parts}
        self.moved: dict[int, None] = {}
        self.unsettled = set(self.parts)

    def go_last(self, tp: int) -> None:
        """Move a partition to the end, as in the queue of the thread."""
        if tp in self.parts:
            self.parts[tp] = self.parts.pop(tp)
            self.moved.pop(tp, None)
            self.moved[tp] = None

    def changes(self) -> FetchChanges:
        """Return what the parts of the unsettled partitions have become, for the next request."""
        updated = [self.parts[tp] for tp in self.unsettled if tp not in self.moved]
        moved = [self.parts[tp] for tp in self.moved]
        self.moved.clear()
        return FetchChanges(self.answered, updated, moved)


@declared
class LastFetch:
    """A follower's last fetch, as its leader remembers it.

    `parts` and `answers` are by partition, in the order of the request, of which `turns` are the
    ranks.  `unread` are the partitions that were visited since the last answer went out.
    `fetched_ms` is when the follower fetched, and was caught up with all settled partitions.
    """

    follower: int
    parts: dict[int, FetchPartition]
    fetched_ms: int
    answers: dict[int, FetchData] = fresh(dict)
    turns: dict[int, int] = unset()
    last_turn: int = unset()
    unsettled: set[int] = unset()
    unread: set[int] = fresh(set)
    is_valid: bool = begins(True)

    def __post_init__(self) -> None:
        self.turns = {tp: turn for turn, tp in enumerate(self.parts)}
        self.last_turn = len(self.turns)
        self.unsettled = set(self.parts)

    def update(self, changes: FetchChanges) -> None:
        """Take over what is different in the next request."""
        for part in changes.updated:
            self.parts[part.tp] = part
            self.unsettled.add(part.tp)
        for part in changes.moved:
            tp = part.tp
            del self.parts[tp], self.answers[tp]
            self.last_turn += 1
            self.parts[tp], self.turns[tp] = part, self.last_turn
            self.unsettled.add(tp)

    def to_visit(self) -> list[FetchPartition]:
        """Return the parts that may have news, in the order of the request."""
        return [self.parts[tp] for tp in self._in_turn(self.unsettled)]

    def note(self, tp: int, data: FetchData) -> None:
        self.answers[tp] = data
        self.unread.add(tp)

    def answer(self, node: int, m: FetchRequest) -> FetchResponse:
        """Return the answer; its news are the partitions visited since the answer before."""
        news = [self.answers[tp] for tp in self._in_turn(self.unread)]
        self.unread.clear()
        return FetchResponse(node, m.src, m.corr, list(self.answers.values()), news)

    def _in_turn(self, tps: set[int]) -> Iterable[int]:
        return tps if len(tps) < 2 else sorted(tps, key=self.turns.__getitem__)
