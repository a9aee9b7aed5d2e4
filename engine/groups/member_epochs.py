"""Epochs and assignments of a group with group.protocol=consumer, and their records (G-9, KIP-848).

A group epoch is the record `e3`, the target assignment of an epoch `t3:C1-1/0+1:C2-1/2`.  What a
member is assigned is the record `a3:C1-1:2:0:1`: its epoch, itself, its epoch before, what it is
assigned, and what it has to give up first.  A member that is gone is the record `x:C1-1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.groups import Group, GroupEntry
from engine.model.log import Log
from engine.model.messages import FIRST_CONSUMER

# -- records ---------------------------------------------------------------------------------------


def epoch_record(epoch: int) -> str:
    return f"e{epoch}"


def target_record(group: Group) -> str:
    shares = (f"{member}/{_text(share)}" for member, share in group.target)
    return ":".join((f"t{group.target_epoch}", *shares))


def member_record(member: str, entry: GroupEntry) -> str:
    assigned, revoking = _text(entry.assigned), _text(entry.revoking)
    return f"a{entry.epoch}:{member}:{entry.previous}:{assigned}:{revoking}"


def removal_record(member: str) -> str:
    return f"x:{member}"


def _text(partitions: Sequence[int]) -> str:
    return "+".join(map(str, partitions))


def _partitions(text: str) -> tuple[int, ...]:
    return tuple(int(tp) for tp in text.split("+") if tp)


def client_of(member: str) -> int:
    return FIRST_CONSUMER + 1 - int(member[1:].split("-")[0])


def replay(log: Log, upto: int, group: Group, now: int) -> None:
    """G-5, G-9.  Put into a new group what the log has of it below an offset.

    Each member has a whole session from now on, and as long again to give up what it has to.
    """
    for batch in log.batches:
        if batch.end > upto:
            break
        for value in batch.values:
            name, *fields = value.split(":")
            if name[0] in "etax":
                group.reconciles, group.written = True, batch.end - 1
            if name[0] == "e":
                group.generation = int(name[1:])
            elif name[0] == "t":
                shares = (text.split("/") for text in fields)
                group.target_epoch = int(name[1:])
                group.target = tuple((member, _partitions(share)) for member, share in shares)
            elif name[0] == "x":
                group.members.pop(fields[0], None)
            elif name[0] == "a":
                member, previous, assigned, revoking = fields
                entry = group.members[member] = GroupEntry(client_of(member), now)
                entry.epoch, entry.previous = int(name[1:]), int(previous)
                entry.assigned, entry.revoking = _partitions(assigned), _partitions(revoking)
                entry.revoking_since = now if revoking else -1


# -- the assignor ----------------------------------------------------------------------------------


def uniform(
    partitions: Sequence[int], members: Sequence[str], owned: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """UniformAssignor.  Return equal shares; a member keeps its first ones up to its quota."""
    least, more = divmod(len(partitions), len(members))
    quotas = {member: least + (index < more) for index, member in enumerate(members)}
    shares = {member: sorted(owned.get(member, ()))[: quotas[member]] for member in members}
    before = {tp for member in members for tp in owned.get(member, ())}
    rest = [tp for tp in partitions if tp not in before]
    for member in members:
        rest += sorted(owned.get(member, ()))[quotas[member] :]
    for member, share in shares.items():
        missing = quotas[member] - len(share)
        share += rest[:missing]
        rest = rest[missing:]
    return {member: tuple(sorted(share)) for member, share in shares.items()}
