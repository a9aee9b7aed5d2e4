"""Messages between the members of a consumer group and its coordinator.

`tp` is the group's partition of __consumer_offsets: the broker that leads it is the coordinator,
and a group has one of its own here.  A member's id is its client and the number of its start.
"""

from __future__ import annotations

from typing import Final

from engine.model.compiling import mypyc_attr
from engine.model.declared import acyclic
from engine.model.errors import (
    COORDINATOR_NOT_AVAILABLE,
    KAFKA_STORAGE_ERROR,
    NOT_COORDINATOR,
    NOT_ENOUGH_REPLICAS,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    NOT_LEADER_OR_FOLLOWER,
    REBALANCE_IN_PROGRESS,
    REQUEST_TIMED_OUT,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from engine.model.messages import (
    CONSUMER_HEARTBEAT,
    CONSUMER_HEARTBEAT_R,
    FIND_COORDINATOR,
    FIND_COORDINATOR_R,
    GROUP_HEARTBEAT,
    GROUP_HEARTBEAT_R,
    JOIN_GROUP,
    JOIN_GROUP_R,
    LEAVE_GROUP,
    LEAVE_GROUP_R,
    OFFSET_COMMIT,
    OFFSET_COMMIT_R,
    OFFSET_FETCH,
    OFFSET_FETCH_R,
    Message,
    ProduceRequest,
)
from engine.model.profiles import Profile

GROUP_REQUESTS: Final = frozenset(
    (
        CONSUMER_HEARTBEAT,
        FIND_COORDINATOR,
        GROUP_HEARTBEAT,
        JOIN_GROUP,
        LEAVE_GROUP,
        OFFSET_COMMIT,
        OFFSET_FETCH,
    )
)

_OF_LOG: Final = {
    UNKNOWN_TOPIC_OR_PARTITION: COORDINATOR_NOT_AVAILABLE,
    NOT_ENOUGH_REPLICAS: COORDINATOR_NOT_AVAILABLE,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND: COORDINATOR_NOT_AVAILABLE,
    NOT_LEADER_OR_FOLLOWER: NOT_COORDINATOR,
    KAFKA_STORAGE_ERROR: NOT_COORDINATOR,
}
"""GroupMetadataManager.maybeConvertOffsetCommitError."""

Offsets = tuple[tuple[int, int, int], ...]
"""(partition, offset, leader epoch of the record before it) for each partition; -1: none."""


@acyclic
class GroupRequest(Message):
    """A member's id and generation (-1: none), and partitions with the offsets that it commits.

    `instance`: its group.instance.id, "" for a dynamic member.
    """

    tp: int
    member: str = ""
    generation: int = -1
    offsets: Offsets = ()
    instance: str = ""


@acyclic
class FindCoordinator(GroupRequest):
    kind = FIND_COORDINATOR


@acyclic
class JoinGroup(GroupRequest):
    """JoinGroup and SyncGroup in one; `offsets` has the partitions that it subscribes to.

    `owned`: what a cooperative member keeps meanwhile; None: it is eager and has given up all.
    """

    owned: tuple[int, ...] | None = None
    kind = JOIN_GROUP


@acyclic
class LeaveGroup(GroupRequest):
    kind = LEAVE_GROUP


@acyclic
class GroupHeartbeat(GroupRequest):
    kind = GROUP_HEARTBEAT


@acyclic
class ConsumerGroupHeartbeat(GroupRequest):
    """G-9.  Join (epoch 0), keep the session, acknowledge what is owned, or leave (epoch -1).

    `generation` is the member epoch; `offsets` has the partitions that it subscribes to.
    """

    owned: tuple[int, ...] = ()
    kind = CONSUMER_HEARTBEAT


@acyclic
class OffsetCommit(GroupRequest):
    kind = OFFSET_COMMIT


@acyclic
class OffsetFetch(GroupRequest):
    """Asks for the committed offsets of the partitions in `offsets`."""

    kind = OFFSET_FETCH


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class GroupResponse(Message):
    """Response of the coordinator.

    `node`: the coordinator, of FindCoordinator; `generation` and `assigned`: of JoinGroup and
    ConsumerGroupHeartbeat; `offsets`: of OffsetFetch.  `base` is no field of Kafka's: where a
    commit, a generation or an assignment lies in the log, for the observer.
    """

    __slots__ = ("assigned", "base", "error", "generation", "node", "offsets", "tp")

    def __init__(
        self,
        request: GroupRequest,
        error: int,
        *,
        node: int = -1,
        generation: int = -1,
        assigned: tuple[int, ...] = (),
        offsets: Offsets = (),
        base: int = -1,
    ) -> None:
        self.src = request.dst
        self.dst = request.src
        self.corr = request.corr
        self.tp = request.tp
        self.error = error
        self.node = node
        self.generation = generation
        self.assigned = assigned
        self.offsets = offsets
        self.base = base


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class FindCoordinatorResponse(GroupResponse):
    __slots__ = ()
    kind = FIND_COORDINATOR_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class JoinGroupResponse(GroupResponse):
    __slots__ = ()
    kind = JOIN_GROUP_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class LeaveGroupResponse(GroupResponse):
    __slots__ = ()
    kind = LEAVE_GROUP_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class GroupHeartbeatResponse(GroupResponse):
    __slots__ = ()
    kind = GROUP_HEARTBEAT_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class ConsumerGroupHeartbeatResponse(GroupResponse):
    __slots__ = ()
    kind = CONSUMER_HEARTBEAT_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class OffsetCommitResponse(GroupResponse):
    __slots__ = ()
    kind = OFFSET_COMMIT_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class OffsetFetchResponse(GroupResponse):
    __slots__ = ()
    kind = OFFSET_FETCH_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class CoordinatorAppend(ProduceRequest):
    """Records that a coordinator writes to its own partition, with acks=all; never on the wire.

    `requests` are answered once the records are committed: one commit, or the joins or the
    heartbeat of members with what each is assigned.
    """

    __slots__ = ("assignment", "generation", "requests")

    def __init__(
        self,
        broker: int,
        tp: int,
        values: tuple[str, ...],
        timeout: int,
        requests: tuple[GroupRequest, ...],
        generation: int = -1,
        assignment: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        src = requests[0].src if requests else broker
        ProduceRequest.__init__(self, src, broker, 0, tp, values, -1, timeout)
        self.requests = requests
        self.generation = generation
        self.assignment = assignment

    def responses(self, error: int, base: int, profile: Profile) -> list[GroupResponse]:
        """Return the responses; an error of the log becomes one of the group protocol."""
        error = _OF_LOG.get(error, error)
        if error == REQUEST_TIMED_OUT and profile.group_timeout_is_unavailable:
            error = COORDINATOR_NOT_AVAILABLE
        elif error == REQUEST_TIMED_OUT and self.assignment:  # before 4.0, so of joins
            error = REBALANCE_IN_PROGRESS
        if not self.requests:
            return []
        if not self.assignment:
            return [OffsetCommitResponse(request, error, base=base) for request in self.requests]
        if isinstance(self.requests[0], ConsumerGroupHeartbeat):
            return [self._heartbeat_response(error, base)]
        return [
            JoinGroupResponse(request, error, generation=self.generation, assigned=owned, base=base)
            for request, owned in zip(self.requests, self.assignment, strict=True)
        ]

    def _heartbeat_response(self, error: int, base: int) -> GroupResponse:
        last = base + max(len(self.values), 1) - 1
        return ConsumerGroupHeartbeatResponse(
            self.requests[0],
            error,
            generation=self.generation,
            assigned=self.assignment[0],
            base=last,
        )
