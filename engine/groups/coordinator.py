"""Coordinator of consumer groups: the leader of a group's partition of __consumer_offsets (G-).

Kafka's GroupCoordinator and GroupMetadataManager, in outline.  What it knows of a group is in the
log, except the sessions: a broker that becomes the leader reads its log and goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from engine.dataplane import produce, purgatory
from engine.groups import member_epochs, reconciliation
from engine.model import messages
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    NONE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
from engine.model.group_messages import (
    ConsumerGroupHeartbeat,
    ConsumerGroupHeartbeatResponse,
    CoordinatorAppend,
    FindCoordinatorResponse,
    GroupHeartbeatResponse,
    GroupRequest,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroupResponse,
    OffsetCommitResponse,
    OffsetFetchResponse,
)
from engine.model.groups import (
    COMMIT_TIMEOUT_MS,
    NO_OFFSET,
    Commit,
    Group,
    GroupEntry,
    assign,
    assign_sticky,
    commit_record,
    commits,
    generation_record,
    in_order,
    last_generation,
    read_entry,
)
from engine.model.log import Log
from engine.model.state import LEADER, DelayedProduce, Replica
from engine.model.timers import GROUP_CHECK

REMOVAL_RETRY_MS: Final = 500
"""G-9.  Wait after a removal that could not be written (`CoordinatorRuntime`)."""

# -- the group -------------------------------------------------------------------------------------


def leader_replica(broker: Process, tp: int) -> Replica | None:
    """G-1.  Return the replica of a group's partition if this broker leads it."""
    replica = broker.replicas.get(tp)
    return replica if replica is not None and replica.role == LEADER else None


def load(broker: Process, replica: Replica, out: Effects) -> Group:
    """G-5.  Return the group; in a new leader epoch it is read from the log, to the log's end.

    Members that the log names have a whole session from now on.
    """
    group = broker.groups.get(replica.tp)
    if group is None or group.epoch != replica.leader_epoch:
        group = broker.groups[replica.tp] = Group(replica.leader_epoch)
        read(replica.log, group, out.now)
        if group.written >= 0:
            out.cue("G-5", broker.id, "generation", None, group.generation, tp=replica.tp)
        _arm(broker, replica.tp, group, out)
    return group


def read(log: Log, group: Group, now: int) -> None:
    """G-5.  Put into a new group what its log has of it."""
    group.generation, members, group.written = last_generation(log)
    for text in members:
        member, entry = read_entry(text, member_epochs.client_of(text), now)
        group.members[member] = entry
    member_epochs.replay(log, log.leo, group, now)


def committed(replica: Replica) -> dict[int, Commit]:
    """G-4.  Return the offsets that OffsetFetch returns: those below the high watermark."""
    return commits(replica.log, replica.log.hw)


def is_completing(replica: Replica, group: Group) -> bool:
    """Check whether the generation is decided and its record is not committed yet."""
    return group.written >= replica.log.hw and not group.reconciles


# -- joining and leaving ---------------------------------------------------------------------------


def _prepare(broker: Process, tp: int, group: Group, out: Effects) -> None:
    """G-2.  Begin a rebalance: all members have to join again."""
    if group.preparing_since < 0:
        group.preparing_since = out.now
        out.cue("G-2", broker.id, "rebalance", None, tuple(group.members), tp=tp)


def _complete(broker: Process, replica: Replica, group: Group, out: Effects) -> None:
    """G-2.  Once every member has joined, begin a generation and assign the partitions."""
    entries = group.members
    if group.preparing_since < 0 or any(each.joining is None for each in entries.values()):
        return
    group.preparing_since = -1
    group.generation += 1
    requests, assignment = [], []
    owned = _assignment(entries)
    for member, entry in entries.items():
        assert entry.joining is not None
        requests.append(entry.joining)
        entry.assigned = owned[member]
        assignment.append(entry.assigned)
        entry.joining, entry.heard_at = None, out.now
    out.cue("G-2.generation", broker.id, "generation", tuple(entries), group.generation,
            tp=replica.tp)  # fmt: skip
    group.written = replica.log.leo
    if not _write(broker, replica, group, tuple(requests), tuple(assignment), out):
        group.written = NO_OFFSET
        _prepare(broker, replica.tp, group, out)


def _assignment(entries: dict[str, GroupEntry]) -> dict[str, tuple[int, ...]]:
    """G-2, G-8.  Assign the topic's partitions, as the members' assignor does."""
    joins = {member: entry.joining for member, entry in entries.items()}
    topic = sorted({tp for m in joins.values() if m for tp, _, _ in m.offsets})
    owned = {
        member: m.owned
        for member, m in joins.items()
        if isinstance(m, JoinGroup) and m.owned is not None
    }
    return assign_sticky(topic, sorted(owned), owned) if owned else assign(topic, in_order(entries))


def _write(
    broker: Process,
    replica: Replica,
    group: Group,
    requests: tuple[GroupRequest, ...],
    assignment: tuple[tuple[int, ...], ...],
    out: Effects,
) -> bool:
    """G-2.  Append the generation, and answer joins once it is committed; False if refused."""
    record = generation_record(group.generation, group.members)
    m = CoordinatorAppend(
        broker.id,
        replica.tp,
        (record,),
        COMMIT_TIMEOUT_MS,
        requests,
        group.generation,
        assignment,
    )
    return _append(broker, replica, m, out)


def on_join(broker: Process, m: GroupRequest, out: Effects) -> None:
    """G-2.  Take a member in, known or new; it is answered when the rebalance is complete."""
    replica = leader_replica(broker, m.tp)
    if replica is None:
        out.send(JoinGroupResponse(m, NOT_COORDINATOR))
        return
    group = load(broker, replica, out)
    former = group.static_member(m.instance)
    error = NONE if m.generation < 0 else _member_error(group, m)
    if error:
        out.send(JoinGroupResponse(m, error))
        return
    if former and m.generation < 0:
        _replace(broker, replica, group, former, m, out)
    else:
        if m.member not in group.members:
            group.members[m.member] = GroupEntry(m.src, out.now, m.instance)
        _take_join(broker, replica, group, m, out)
    _arm(broker, m.tp, group, out)


def _take_join(
    broker: Process, replica: Replica, group: Group, m: GroupRequest, out: Effects
) -> None:
    entry = group.members[m.member]
    entry.joining, entry.heard_at = m, out.now
    _prepare(broker, m.tp, group, out)
    _complete(broker, replica, group, out)


def _replace(
    broker: Process, replica: Replica, group: Group, former: str, m: GroupRequest, out: Effects
) -> None:
    """G-7.  Put a new process in the place of a static member; a stable group goes on.

    `GroupCoordinator.updateStaticMemberAndRebalance`.  The former process is fenced from now on,
    so of two with one group.instance.id at most one can commit.
    """
    before, entry = group.members, group.members[former]
    if entry.joining is not None and former != m.member:
        out.send(JoinGroupResponse(entry.joining, FENCED_INSTANCE_ID))
    group.members = {name: other for name, other in before.items() if name != former}
    group.members[m.member] = GroupEntry(m.src, out.now, m.instance, entry.assigned)
    if group.preparing_since >= 0 or is_completing(replica, group):
        _take_join(broker, replica, group, m, out)
    elif broker.profile.static_rejoin_not_written:
        base, owned = replica.log.leo, entry.assigned
        out.send(JoinGroupResponse(m, NONE, generation=group.generation, assigned=owned, base=base))
    elif not _write(broker, replica, group, (m,), (entry.assigned,), out):
        group.members = before
        return
    out.cue("G-7", broker.id, "member", former, m.member, about=m.src, tp=m.tp)


def on_leave(broker: Process, m: GroupRequest, out: Effects) -> None:
    """G-2.  Let a member go; the others share what it owned."""
    replica = leader_replica(broker, m.tp)
    error = NOT_COORDINATOR
    if replica is not None:
        group = load(broker, replica, out)
        error = _member_error(group, m)
    out.send(LeaveGroupResponse(m, error))
    if replica is not None and error == NONE:
        _remove(broker, replica, group, m.member, out)


def _remove(broker: Process, replica: Replica, group: Group, member: str, out: Effects) -> None:
    del group.members[member]
    _prepare(broker, replica.tp, group, out)
    _complete(broker, replica, group, out)


def _member_error(group: Group, m: GroupRequest) -> int:
    """G-3, G-7.  Return why this is no member, or NONE (`validateCurrentMember`)."""
    if group.static_member(m.instance) not in ("", m.member):
        return FENCED_INSTANCE_ID
    return NONE if m.member in group.members else UNKNOWN_MEMBER_ID


def _check_and_touch(group: Group, m: GroupRequest, now: int) -> int:
    """G-3.  Return why this is no member of the generation, or NONE; note that it was heard."""
    if group.reconciles:
        return reconciliation.offsets_refusal(group.members, m)
    error = _member_error(group, m)
    if error == NONE and m.generation != group.generation:
        error = ILLEGAL_GENERATION
    if error == NONE:
        group.members[m.member].heard_at = now
    return error


def on_heartbeat(broker: Process, m: GroupRequest, out: Effects) -> None:
    """G-3.  Keep the session of a member, and let it know of a rebalance."""
    replica = leader_replica(broker, m.tp)
    error = NOT_COORDINATOR
    if replica is not None:
        group = load(broker, replica, out)
        error = _check_and_touch(group, m, out.now)
        if error == NONE and group.preparing_since >= 0:
            error = REBALANCE_IN_PROGRESS
    out.send(GroupHeartbeatResponse(m, error))


def on_consumer_heartbeat(broker: Process, m: ConsumerGroupHeartbeat, out: Effects) -> None:
    """G-9.  Handle the one request of a member with group.protocol=consumer."""
    replica = leader_replica(broker, m.tp)
    error = NOT_COORDINATOR
    if replica is not None:
        group = load(broker, replica, out)
        error = reconciliation.refusal(group, m)
    if error or replica is None:
        out.send(ConsumerGroupHeartbeatResponse(m, error))
        return
    append = _appender(broker, replica, (m,), out)
    reconciliation.on_heartbeat(broker, group, m, append, out)
    _arm(broker, m.tp, broker.groups[m.tp], out)


def _appender(
    broker: Process, replica: Replica, requests: tuple[GroupRequest, ...], out: Effects
) -> reconciliation.Append:
    """G-9.  Return what writes a group's records; if they are refused the group is as before.

    Without records a request waits for those before it (`CoordinatorRuntime`).
    """
    group = broker.groups[replica.tp]
    before = group.copy()

    def append(values: tuple[str, ...], epoch: int, assigned: tuple[int, ...]) -> None:
        tp, log = replica.tp, replica.log
        m = CoordinatorAppend(
            broker.id, tp, values, COMMIT_TIMEOUT_MS, requests, epoch, (assigned,)
        )
        if values:
            start = log.leo
            if _append(broker, replica, m, out):
                group.written = start + len(values) - 1
            else:
                broker.groups[tp] = before
        elif group.written < log.hw:
            for response in m.responses(NONE, group.written, broker.profile):
                out.send(response)
        else:
            last = group.written
            waiting = DelayedProduce(m, last, last + 1, out.now + m.timeout)
            purgatory.wait_for_hw(broker, replica, waiting, out)

    return append


# -- sessions --------------------------------------------------------------------------------------


def _deadlines(broker: Process, group: Group) -> list[tuple[int, str]]:
    """G-3.  Return (when, member): the end of a session, or of the wait for a member to join."""
    if group.reconciles:
        return reconciliation.deadlines(broker, group)
    values = broker.configs.values
    session, rebalance = int(values["session.timeout.ms"]), int(values["max.poll.interval.ms"])
    times = []
    for member, entry in group.members.items():
        if entry.joining is None:
            times.append((entry.heard_at + session, member))
            if group.preparing_since >= 0:
                times.append((group.preparing_since + rebalance, member))
    return times


def _arm(broker: Process, tp: int, group: Group, out: Effects) -> None:
    """Set the group's one timer to the earliest deadline: most are moved before they are due."""
    deadlines = _deadlines(broker, group)
    if deadlines and group.check_at <= out.now:
        again = REMOVAL_RETRY_MS if group.reconciles else 1
        due = min(deadlines)[0]
        group.check_at = due if due > out.now else out.now + again
        out.timer(broker.id, group.check_at - out.now, GROUP_CHECK, tp)


def on_check(broker: Process, tp: int, out: Effects) -> bool:
    """G-3.  Remove members whose time is over; True if there was one."""
    replica, group = leader_replica(broker, tp), broker.groups.get(tp)
    if replica is None or group is None or group.epoch != replica.leader_epoch:
        return False
    late = dict.fromkeys(member for due, member in _deadlines(broker, group) if due <= out.now)
    remove(broker, tp, late, out)
    _arm(broker, tp, broker.groups[tp], out)
    return bool(late)


def silent(broker: Process, tp: int, client: int) -> list[str]:
    """G-3.  Return the members of a client whose session this coordinator could end now."""
    replica, group = leader_replica(broker, tp), broker.groups.get(tp)
    if replica is None or group is None or group.epoch != replica.leader_epoch:
        return []
    entries = group.members.items()
    return [name for name, entry in entries if entry.client == client and entry.joining is None]


def remove(broker: Process, tp: int, members: Iterable[str], out: Effects) -> None:
    """G-3.  Remove members whose session is over."""
    replica, group = broker.replicas[tp], broker.groups[tp]
    if group.reconciles:
        append = _appender(broker, replica, (), out)
        reconciliation.remove(broker, tp, group, members, append, out)
        return
    for member in members:
        out.cue("G-3", broker.id, "member", member, None, tp=tp)
        _remove(broker, replica, group, member, out)


# -- offsets ---------------------------------------------------------------------------------------


def on_commit(broker: Process, m: GroupRequest, out: Effects) -> None:
    """G-4.  Write a member's offsets to the log, and answer when they are committed there."""
    replica = leader_replica(broker, m.tp)
    if replica is None:
        error = NOT_COORDINATOR
    else:
        group = load(broker, replica, out)
        error = _check_and_touch(group, m, out.now)
        if error == NONE and is_completing(replica, group):
            error = REBALANCE_IN_PROGRESS
    if error or replica is None:
        out.cue("G-4.refused", broker.id, "error", m.member, error, tp=m.tp)
        out.send(OffsetCommitResponse(m, error))
        return
    values = tuple(commit_record(*offset) for offset in m.offsets)
    written = CoordinatorAppend(broker.id, m.tp, values, COMMIT_TIMEOUT_MS, (m,))
    _append(broker, replica, written, out)


def _append(broker: Process, replica: Replica, m: CoordinatorAppend, out: Effects) -> bool:
    """G-4.  Append with acks=all, and let the purgatory answer; False if it is refused."""
    error = produce.refusal(broker, m)
    if error:
        for response in m.responses(error, -1, broker.profile):
            out.send(response)
        return False
    batch = produce.append_as_leader(broker, replica, m, out)
    waiting = DelayedProduce(m, batch.base, batch.end, out.now + m.timeout)
    purgatory.wait_for_hw(broker, replica, waiting, out)
    return True


def on_offset_fetch(broker: Process, m: GroupRequest, out: Effects) -> None:
    """G-4.  Return the committed offsets of the partitions asked for."""
    replica = leader_replica(broker, m.tp)
    if replica is None:
        out.send(OffsetFetchResponse(m, NOT_COORDINATOR))
        return
    group = load(broker, replica, out)
    if group.reconciles:
        members = reconciliation.committed_members(replica, group)
        if error := reconciliation.offsets_refusal(members, m):
            out.send(OffsetFetchResponse(m, error))
            return
    offsets_of = committed(replica)
    nothing = (NO_OFFSET, -1, -1)
    offsets = tuple((tp, *offsets_of.get(tp, nothing)[:2]) for tp, _, _ in m.offsets)
    out.send(OffsetFetchResponse(m, NONE, offsets=offsets))


def on_find(broker: Process, m: GroupRequest, out: Effects) -> None:
    """G-1.  Name the coordinator: the leader of the group's partition, as this broker knows it."""
    leader, _ = broker.metadata.get(m.tp, (-1, -1))
    error = NONE if leader >= 0 else COORDINATOR_NOT_AVAILABLE
    out.send(FindCoordinatorResponse(m, error, node=leader))


HANDLERS: Final[dict[int, Callable[[Process, Any, Effects], None]]] = {
    messages.FIND_COORDINATOR: on_find,
    messages.JOIN_GROUP: on_join,
    messages.LEAVE_GROUP: on_leave,
    messages.GROUP_HEARTBEAT: on_heartbeat,
    messages.OFFSET_COMMIT: on_commit,
    messages.OFFSET_FETCH: on_offset_fetch,
    messages.CONSUMER_HEARTBEAT: on_consumer_heartbeat,
}
