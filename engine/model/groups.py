"""A consumer group as its coordinator knows it, and the records of __consumer_offsets.

A commit is the record `p0:3:e1`: of partition 0 the offset 3, and the leader epoch of the record
before it (KIP-320; without it `p0:3`).  A generation is the record `g2:C1-1:C2-1` with its members;
of a static member it has the group.instance.id and what it owns, too: `g2:C1-1=app-1/0+2`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh
from engine.model.group_messages import GroupRequest
from engine.model.log import Log

OFFSETS_TOPIC: Final = "__consumer_offsets"
NO_OFFSET: Final = -1
JOIN_GROUP_MEMBER_EPOCH: Final = 0
LEAVE_GROUP_MEMBER_EPOCH: Final = -1
COMMIT_TIMEOUT_MS: Final = 5_000  # offsets.commit.timeout.ms

Commit = tuple[int, int, int]
"""(offset, leader epoch or -1, offset of its record in the log)"""


@declared
class GroupEntry:
    """A member: its client, when it was heard last (ms), and its JoinGroup if that waits.

    `instance`: its group.instance.id, "" for a dynamic member.  G-9: its epoch and the one before;
    `revoking`: what it has to give up before another member gets it, and since when (ms).
    """

    client: int
    heard_at: int
    instance: str = ""
    assigned: tuple[int, ...] = ()
    epoch: int = 0
    previous: int = -1
    revoking: tuple[int, ...] = ()
    revoking_since: int = begins(-1)
    joining: GroupRequest | None = begins(None)


@declared
class Group:
    """A coordinator's memory of a group, read from its log in the leader epoch `epoch`.

    `preparing_since` (ms): a rebalance waits for members to join, -1: none does.  `written`: the
    offset of the generation's record; until it is committed the rebalance is not complete.
    `reconciles`: G-9 is played; `generation` is the group epoch, `target` what each member is to
    own as of `target_epoch`, and `written` the offset of the last record.
    """

    epoch: int
    generation: int = begins(0)
    members: dict[str, GroupEntry] = fresh(dict)
    preparing_since: int = begins(-1)
    written: int = begins(-1)
    reconciles: bool = begins(False)
    target_epoch: int = begins(0)
    target: tuple[tuple[str, tuple[int, ...]], ...] = begins(())
    check_at: int = begins(-1)

    def copy(self) -> Group:
        twin = shallow(self)
        twin.members = {member: shallow(entry) for member, entry in self.members.items()}
        return twin

    def static_member(self, instance: str) -> str:
        """G-7.  Return the member of a group.instance.id, "" if there is none."""
        if not instance:
            return ""
        entries = self.members.items()
        return next((member for member, entry in entries if entry.instance == instance), "")


# -- records ---------------------------------------------------------------------------------------


def commit_record(tp: int, offset: int, epoch: int) -> str:
    return f"p{tp}:{offset}" + (f":e{epoch}" if epoch >= 0 else "")


def generation_record(generation: int, members: Mapping[str, GroupEntry]) -> str:
    return ":".join((f"g{generation}", *(_written(*item) for item in members.items())))


def _written(member: str, entry: GroupEntry) -> str:
    if not entry.instance:
        return member
    return f"{member}={entry.instance}/{'+'.join(map(str, entry.assigned))}"


def read_entry(text: str, client: int, now: int) -> tuple[str, GroupEntry]:
    """Return a member of a generation's record: its id, and what the record has of it."""
    name, _, owned = text.partition("/")
    member, _, instance = name.partition("=")
    assigned = tuple(int(tp) for tp in owned.split("+") if tp)
    return member, GroupEntry(client, now, instance, assigned)


def last_generation(log: Log) -> tuple[int, tuple[str, ...], int]:
    """Return (generation, members, offset of its record) of the last one, or (0, (), -1)."""
    for batch in reversed(log.batches):
        name, *members = batch.values[-1].split(":")
        if name.startswith("g"):
            return int(name[1:]), tuple(members), batch.base
    return 0, (), -1


def commits(log: Log, upto: int) -> dict[int, Commit]:
    """Return the last commit of each partition below an offset of the log."""
    by_partition: dict[int, Commit] = {}
    for batch in reversed(log.batches):
        if batch.end > upto:
            continue
        for index, value in enumerate(batch.values):
            name, *rest = value.split(":")
            if name.startswith("p") and int(name[1:]) not in by_partition:
                epoch = int(rest[1][1:]) if len(rest) > 1 else -1
                by_partition[int(name[1:])] = int(rest[0]), epoch, batch.base + index
    return by_partition


def in_order(members: Mapping[str, GroupEntry]) -> list[str]:
    """Return members as an assignor orders them: static ones first, by their group.instance.id."""

    def place(member: str) -> tuple[bool, str]:
        instance = members[member].instance
        return not instance, instance or member

    return sorted(members, key=place)


def assign_sticky(
    partitions: Sequence[int], members: Sequence[str], owned: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """CooperativeStickyAssignor.  Return equal shares that move as few partitions as possible.

    What another member still owns is left out: its owner has to give it up first.
    """
    least, rest = divmod(len(partitions), len(members))
    shares: dict[str, list[int]] = {}
    for member in members:
        full = sum(len(share) > least for share in shares.values())
        most = least + (full < rest)
        shares[member] = sorted(owned[member])[:most]
    placed = {tp for share in shares.values() for tp in share}
    under = [member for member in members if len(shares[member]) < least]
    exact = [member for member in members if len(shares[member]) == least]
    turn = 0
    for tp in (partition for partition in partitions if partition not in placed):
        if under:
            turn %= len(under)
            shares[under[turn]].append(tp)
            if len(shares[under[turn]]) == least:
                exact.append(under.pop(turn))
            else:
                turn += 1
        else:
            shares[exact.pop(0)].append(tp)
    holders = {tp: member for member in members for tp in owned[member]}
    return {
        member: tuple(tp for tp in sorted(share) if holders.get(tp, member) == member)
        for member, share in shares.items()
    }


def assign(partitions: Sequence[int], members: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """RangeAssignor.  Return consecutive partitions for each member; the first get one more."""
    owned, first = {}, 0
    for index, member in enumerate(members):
        each, rest = divmod(len(partitions), len(members))
        count = each + (index < rest)
        owned[member] = tuple(partitions[first : first + count])
        first += count
    return owned
