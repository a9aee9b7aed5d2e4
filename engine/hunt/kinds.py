"""Kinds of broken promises that the hunt knows: how each is recognised, its verdict, its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

Verdict = Literal["new", "known", "by design"]
"""Found here first; an issue of Kafka; what Kafka's source does on purpose, without a loss."""


class Step(NamedTuple):
    """A rule that was followed: number of the event, rule, node, leader by the controller."""

    event: int
    rule: str
    node: int
    leader: int


class Seen(NamedTuple):
    """Story of a played run: its steps, and (invariant, step, why) of each broken invariant."""

    steps: tuple[Step, ...]
    broken: tuple[tuple[str, int, str], ...]


class Mechanism(NamedTuple):
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


def _setting_after_isr(seen: Seen) -> bool:
    """Check for a leader that hears of a smaller ISR and of the new setting in one event."""
    at = next(step for name, step, _ in seen.broken if name == "I14")
    rules = {one.rule for one in seen.steps if one.event == at}
    return "CP-KR-APPLY" in rules and any(one.rule == "CP-12" for one in seen.steps)


KINDS: Final = (
    Mechanism(
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
    Mechanism(
        "setting-after-isr",
        "A leader commits by the old min.insync.replicas, as the ISR is applied before the setting",
        "by design",
        frozenset({"I14"}),
        _setting_after_isr,
        "BrokerMetadataPublisher.onMetadataUpdate: the changes of topics are applied before those "
        "of settings, also where one fetch brings both",
        "None is needed: what is committed was written under the old setting.",
    ),
)
