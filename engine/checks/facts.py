"""Facts that a member of a consumer group notes for the observer of a run (G-)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

PROCESSED: Final = "processed"
POLLED: Final = "polled"
ASSIGNED: Final = "assigned"
COMMITTED: Final = "committed"


class MemberState(NamedTuple):
    """A running member: the partitions it believes it owns, and its unprocessed records.

    instance: its group.instance.id, "" for a dynamic member.  reconciles: group.protocol=consumer.
    """

    member: str
    instance: str
    generation: int
    assigned: tuple[int, ...]
    polled: frozenset[str]
    reconciles: bool = False


class Assignment(NamedTuple):
    """Assignment of a member at offset `base` of the coordinator's log.

    members: those of its group that run.
    """

    group: int
    member: MemberState
    base: int
    members: Collection[MemberState]


class GroupCommit(NamedTuple):
    """A commit of a member, its records at offset `base` of __consumer_offsets."""

    group: int
    member: MemberState
    base: int
    records: Collection[str]
