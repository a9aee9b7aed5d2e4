"""Kinds of broken promises that the hunt knows: how each is recognised, its verdict, its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

Verdict = Literal["new", "known", "documented"]
"""Found here first; an issue of Kafka; as Kafka's documents say."""


class Step(NamedTuple):
    """A rule that was followed: number of the event, rule, node, leader by the controller."""

    event: int
    rule: str
    node: int
    leader: int


class Seen(NamedTuple):
    """What a played run showed: its steps, and (invariant, step, why) of what broke."""

    steps: tuple[Step, ...]
    broken: tuple[tuple[str, int, str], ...]


class Kind(NamedTuple):
    """A mechanism: what it breaks, how its story is recognised, and what is known of it.

    `source` names the place in Kafka that makes it happen, `cure` what an operator can do.
    """

    name: str
    title: str
    verdict: Verdict
    invariants: frozenset[str]
    is_told_by: Callable[[Seen], bool]
    source: str
    cure: str


def _deposed_leader_deletes(seen: Seen) -> bool:
    return any(one.rule == "R-4.deleted" and one.node != one.leader for one in seen.steps)


KINDS: Final = (
    Kind(
        "deposed-leader-deletes-remote",
        "A deposed leader deletes remote segments that its successor still serves",
        "new",
        frozenset({"INV-39", "INV-27", "INV-38", "I5", "I6", "I7", "I9", "I10"}),
        _deposed_leader_deletes,
        "RemoteLogManager.RLMExpirationTask.cleanupExpiredRemoteLogSegments: the size of the log "
        "includes local segments that no follower has (UnifiedLog.onlyLocalLogSegmentsSize), and "
        "nothing compares leader epochs before RemoteLogMetadataManager is told of a deletion",
        "Keep retention.bytes above what clients can send to one broker while it is cut off.",
    ),
)
