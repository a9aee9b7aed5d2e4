"""Reconciliation of a group's members one by one, each with an epoch of its own (G-9, KIP-848).

Kafka's GroupMetadataManager, ConsumerGroup and CurrentAssignmentBuilder, in outline.  The
coordinator has a target assignment; a member learns with its heartbeats what it has to give up,
and once it has, what it gets.  No member waits for one whose partitions stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.groups.member_epochs import (
    epoch_record,
    member_record,
    removal_record,
    replay,
    target_record,
    uniform,
)
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_MEMBER_EPOCH,
    NONE,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
)
from engine.model.group_messages import ConsumerGroupHeartbeat, GroupRequest
from engine.model.groups import (
    JOIN_GROUP_MEMBER_EPOCH,
    LEAVE_GROUP_MEMBER_EPOCH,
    Group,
    GroupEntry,
)
from engine.model.state import Replica

Append = Callable[[tuple[str, ...], int, tuple[int, ...]], None]
"""Writes the records of a heartbeat, and answers it with an epoch and an assignment."""


def refusal(group: Group, m: ConsumerGroupHeartbeat) -> int:
    """G-9.  Return why a heartbeat is refused, or NONE.

    `throwIfConsumerGroupMemberEpochIsInvalid`: the epoch before is accepted if the response with
    the new one may have been lost.
    """
    entry = group.members.get(m.member)
    if entry is None:
        return NONE if m.generation == JOIN_GROUP_MEMBER_EPOCH else UNKNOWN_MEMBER_ID
    if m.generation in (LEAVE_GROUP_MEMBER_EPOCH, entry.epoch):
        return NONE
    was_lost = m.generation == entry.previous and set(m.owned) <= set(entry.assigned)
    return NONE if was_lost else FENCED_MEMBER_EPOCH


def offsets_refusal(members: dict[str, GroupEntry], m: GroupRequest) -> int:
    """G-9.  Return why a member may not commit or fetch offsets (`validateMemberEpoch`)."""
    entry = members.get(m.member)
    if entry is None:
        return UNKNOWN_MEMBER_ID
    return NONE if entry.epoch == m.generation else STALE_MEMBER_EPOCH


def committed_members(replica: Replica, group: Group) -> dict[str, GroupEntry]:
    """G-9.  Return the members as of the high watermark, as OffsetFetch sees them."""
    if group.written < replica.log.hw:
        return group.members
    replayed = Group(group.epoch)
    replay(replica.log, replica.log.hw, replayed, 0)
    return replayed.members


def on_heartbeat(
    broker: Process, group: Group, m: ConsumerGroupHeartbeat, append: Append, out: Effects
) -> None:
    """G-9.  Take a member in, let it go, or bring it one step nearer to its target."""
    group.reconciles = True
    if m.generation == LEAVE_GROUP_MEMBER_EPOCH:
        append(_removal(group, (m.member,)), LEAVE_GROUP_MEMBER_EPOCH, ())
        return
    entry = group.members.get(m.member)
    records = []
    if entry is None:
        entry = group.members[m.member] = GroupEntry(m.src, out.now)
        group.generation += 1
        records.append(epoch_record(group.generation))
    if group.generation > group.target_epoch:
        _set_target(group, [tp for tp, _, _ in m.offsets])
        names = tuple(member for member, _ in group.target)
        out.cue("G-9", broker.id, "target", names, group.generation, tp=m.tp)
        records.append(target_record(group))
    if _reconcile(group, m, entry, out.now):
        records.append(member_record(m.member, entry))
    entry.heard_at = out.now
    append(tuple(records), entry.epoch, entry.assigned)


def _set_target(group: Group, topic: list[int]) -> None:
    """G-9.  Assign the partitions to all members; each keeps what it may."""
    members = sorted(group.members)
    group.target = tuple(uniform(topic, members, dict(group.target)).items())
    group.target_epoch = group.generation


def _reconcile(group: Group, m: ConsumerGroupHeartbeat, entry: GroupEntry, now: int) -> bool:
    """G-9.  Take a member one step towards the target; True if that changed it.

    `CurrentAssignmentBuilder`: it gives up first, and gets only what no other member holds.
    """
    if entry.revoking and not _gave_up(m, entry.revoking):
        return False
    before = entry.epoch, entry.assigned, entry.revoking
    target = dict(group.target).get(m.member, ())
    owned = tuple(tp for tp in entry.assigned if tp in target)
    revoking = tuple(tp for tp in entry.assigned if tp not in target)
    epoch = entry.epoch + 1 if entry.revoking else entry.epoch
    if revoking and not _gave_up(m, revoking):
        entry.epoch, entry.assigned, entry.revoking = epoch, owned, revoking
        entry.revoking_since = now
    else:
        entry.assigned, entry.revoking = owned, ()
        free = tuple(tp for tp in target if tp not in owned and is_free(group, tp))
        entry.epoch, entry.assigned = group.target_epoch, tuple(sorted(owned + free))
    changed = before != (entry.epoch, entry.assigned, entry.revoking)
    if changed:
        entry.previous = before[0]
    return changed


def _gave_up(m: ConsumerGroupHeartbeat, partitions: tuple[int, ...]) -> bool:
    return not set(partitions) & set(m.owned)


def is_free(group: Group, tp: int) -> bool:
    """G-9.  Check that no member owns a partition or has yet to give it up."""
    return not any(tp in one.assigned + one.revoking for one in group.members.values())


def is_reconciled(group: Group) -> bool:
    """Check whether each member owns what the newest target says."""
    return group.target_epoch == group.generation and all(
        entry.epoch == group.target_epoch and entry.assigned == dict(group.target).get(member)
        for member, entry in group.members.items()
    )


def _removal(group: Group, members: Iterable[str]) -> tuple[str, ...]:
    """G-9.  Remove members; the next heartbeat of any other computes the new target."""
    records = []
    for member in members:
        del group.members[member]
        group.generation += 1
        records += [removal_record(member), epoch_record(group.generation)]
    return tuple(records)


def remove(
    broker: Process, tp: int, group: Group, members: Iterable[str], append: Append, out: Effects
) -> None:
    """G-3, G-9.  Remove members whose session is over, or that do not give up what they have to."""
    members = tuple(members)
    for member in members:
        out.cue("G-3", broker.id, "member", member, None, tp=tp)
    if members:
        append(_removal(group, members), LEAVE_GROUP_MEMBER_EPOCH, ())


def deadlines(broker: Process, group: Group) -> list[tuple[int, str]]:
    """G-9.  Return (when, member): the end of a session, or of the wait for a revocation."""
    values = broker.configs.values
    session = int(values["group.consumer.session.timeout.ms"])
    rebalance = int(values["max.poll.interval.ms"])
    times = []
    for member, entry in group.members.items():
        times.append((entry.heard_at + session, member))
        if entry.revoking:
            times.append((entry.revoking_since + rebalance, member))
    return times
