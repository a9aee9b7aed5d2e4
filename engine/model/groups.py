"""A consumer group as its coordinator knows it, and the records of __consumer_offsets.

A commit is the record `p0:3:e1`: of partition 0 the offset 3, and the leader epoch of the record
before it (KIP-320; without it `p0:3`).  A generation is the record `g2:C1-1:C2-1` with its members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh
from engine.model.group_messages import GroupRequest
from engine.model.log import Log

OFFSETS_TOPIC: Final = "__consumer_offsets"
NO_OFFSET: Final = -1
COMMIT_TIMEOUT_MS: Final = 5_000  # offsets.commit.timeout.ms

Commit = tuple[int, int, int]
"""(offset, leader epoch or -1, offset of its record in the log)"""


@declared
class GroupEntry:
    """A member: its client, when it was heard last (ms), and its JoinGroup if that waits."""

    client: int
    heard_at: int
    joining: GroupRequest | None = begins(None)


@declared
class Group:
    """A coordinator's memory of a group, read from its log in the leader epoch `epoch`.

    `preparing_since` (ms): a rebalance waits for members to join, -1: none does.  `written`: the
    offset of the generation's record; until it is committed the rebalance is not complete.
    """

    epoch: int
    generation: int = begins(0)
    members: dict[str, GroupEntry] = fresh(dict)
    preparing_since: int = begins(-1)
    written: int = begins(-1)
    check_at: int = begins(-1)

    def copy(self) -> Group:
        twin = shallow(self)
        twin.members = {member: shallow(entry) for member, entry in self.members.items()}
        return twin


# -- records ---------------------------------------------------------------------------------------


def commit_record(tp: int, offset: int, epoch: int) -> str:
    return f"p{tp}:{offset}" + (f":e{epoch}" if epoch >= 0 else "")


def generation_record(generation: int, members: Sequence[str]) -> str:
    return ":".join((f"g{generation}", *members))


def last_generation(log: Log) -> tuple[int, tuple[str, ...], int]:
    """Return (generation, members, offset of its record) of the last one, or (0, (), -1)."""
    for batch in reversed(log.batches):
        name, *members = batch.values[-1].split(":")
        if name.startswith("g"):
            return int(name[1:]), tuple(members), batch.base
    return 0, (), -1


def commits(log: Log, upto: int) -> dict[int, Commit]:
    """Return the last commit of each partition below an offset of the log."""
    found: dict[int, Commit] = {}
    for batch in reversed(log.batches):
        if batch.end > upto:
            continue
        for index, value in enumerate(batch.values):
            name, *rest = value.split(":")
            if name.startswith("p") and int(name[1:]) not in found:
                epoch = int(rest[1][1:]) if len(rest) > 1 else -1
                found[int(name[1:])] = int(rest[0]), epoch, batch.base + index
    return found


def assign(partitions: Sequence[int], members: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """RangeAssignor.  Return consecutive partitions for each member; the first get one more."""
    ordered, owned, first = sorted(members), {}, 0
    for index, member in enumerate(ordered):
        each, rest = divmod(len(partitions), len(ordered))
        count = each + (index < rest)
        owned[member] = tuple(partitions[first : first + count])
        first += count
    return owned
