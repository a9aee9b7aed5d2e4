"""Messages between brokers and the controller.  A message is never changed once it was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.model.compiling import mypyc_attr
from engine.model.copying import fields
from engine.model.messages import (
    ALTER_PARTITION,
    ALTER_PARTITION_R,
    ASSIGN_DIRS,
    ASSIGN_DIRS_R,
    HEARTBEAT,
    HEARTBEAT_R,
    LEADER_AND_ISR,
    LEADER_AND_ISR_R,
    LOG_DIR_EVENT,
    METADATA_FETCH,
    METADATA_FETCH_R,
    REGISTER,
    REGISTER_R,
    SHUTDOWN,
    SHUTDOWN_R,
    STOP_REPLICA,
    STOP_REPLICA_R,
    UPDATE_METADATA,
    Message,
)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class AlterItem:
    """One partition of AlterPartition.

    `isr` pairs each member with the broker epoch it fetched with (-1 = unknown).  For a ZooKeeper
    write the partition epoch is the expected znode version.  `topic` is written where the number
    alone cannot tell which topic is meant.
    """

    __slots__ = ("isr", "leader_epoch", "partition_epoch", "recovering", "topic", "tp")

    def __init__(
        self,
        tp: int,
        leader_epoch: int,
        partition_epoch: int,
        isr: tuple[tuple[int, int], ...],
        recovering: bool = False,
        topic: str = "",
    ) -> None:
        self.tp = tp
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.isr = isr
        self.recovering = recovering
        self.topic = topic


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class AlterPartitionRequest(Message):
    """AlterPartition (KIP-497), or, with `direct`, the leader's own write of the state znode."""

    __slots__ = ("broker_epoch", "direct", "items", "version")
    kind = ALTER_PARTITION

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        broker_epoch: int,
        items: Sequence[AlterItem],
        direct: bool,
        version: int = 3,
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.broker_epoch = broker_epoch
        self.items = items
        self.direct = direct
        self.version = version


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class AlterAnswer:
    __slots__ = ("error", "isr", "leader", "leader_epoch", "partition_epoch", "tp")

    def __init__(
        self,
        tp: int,
        error: int,
        leader: int,
        leader_epoch: int,
        partition_epoch: int,
        isr: tuple[int, ...],
    ) -> None:
        self.tp = tp
        self.error = error
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.isr = isr


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class AlterPartitionResponse(Message):
    __slots__ = ("error", "items")
    kind = ALTER_PARTITION_R

    def __init__(
        self, src: int, dst: int, corr: int, error: int, items: Sequence[AlterAnswer]
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.items = items


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class Heartbeat(Message):
    """BrokerHeartbeat (KRaft) or a ping that keeps the ZooKeeper session.

    `offline_dirs`: the log directories that have failed (KIP-858, 3.7).
    """

    __slots__ = (
        "broker_epoch",
        "metadata_offset",
        "offline_dirs",
        "want_fence",
        "want_shutdown",
    )
    kind = HEARTBEAT

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        broker_epoch: int,
        metadata_offset: int,
        want_fence: bool,
        want_shutdown: bool,
        offline_dirs: tuple[int, ...] = (),
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.broker_epoch = broker_epoch
        self.metadata_offset = metadata_offset
        self.want_fence = want_fence
        self.want_shutdown = want_shutdown
        self.offline_dirs = offline_dirs


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class HeartbeatResponse(Message):
    __slots__ = ("caught_up", "error", "fenced", "should_shut_down")
    kind = HEARTBEAT_R

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        error: int,
        caught_up: bool,
        fenced: bool,
        should_shut_down: bool,
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.caught_up = caught_up
        self.fenced = fenced
        self.should_shut_down = should_shut_down


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class RegisterRequest(Message):
    """BrokerRegistration; `incarnation` is the process, `previous_epoch` from its clean shutdown.

    `bounced`: the old session's znode is replaced before the controller looks (ZooKeeper only).
    """

    __slots__ = ("bounced", "incarnation", "lost_dirs", "previous_epoch", "rack")
    kind = REGISTER

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        incarnation: int,
        previous_epoch: int,
        bounced: bool = False,
        rack: str = "",
        lost_dirs: tuple[int, ...] = (),
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.incarnation = incarnation
        self.previous_epoch = previous_epoch
        self.bounced = bounced
        self.rack = rack
        self.lost_dirs = lost_dirs


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class RegisterResponse(Message):
    __slots__ = ("broker_epoch", "error")
    kind = REGISTER_R

    def __init__(self, src: int, dst: int, corr: int, error: int, broker_epoch: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.broker_epoch = broker_epoch


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class MetadataFetch(Message):
    """A KRaft broker asks for metadata records from `offset` on; the controller may wait."""

    __slots__ = ("offset",)
    kind = METADATA_FETCH

    def __init__(self, src: int, dst: int, corr: int, offset: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.offset = offset


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class MetadataRecords(Message):
    """Committed metadata records [offset, offset + len(records))."""

    __slots__ = ("offset", "records")
    kind = METADATA_FETCH_R

    def __init__(
        self, src: int, dst: int, corr: int, offset: int, records: Sequence[tuple[Any, ...]]
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.offset = offset
        self.records = records


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class ControlRequest(Message):
    """A request of ZooKeeper's controller; it is sent until the broker has answered (5.1)."""

    __slots__ = ("broker_epoch", "controller_epoch")
    broker_epoch: int
    controller_epoch: int

    def again(self) -> ControlRequest:
        """Return the same request, not sent yet."""
        kind = self.__class__
        twin = kind.__new__(kind)
        for name in fields(kind):
            if name not in ("due", "id", "sent"):
                setattr(twin, name, getattr(self, name))
        return twin


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class ControlAnswer(Message):
    """The answer to such a request, where the controller acts on it.  `answers`: (tp, error)."""

    __slots__ = ("answers", "request")

    def __init__(self, request: ControlRequest, answers: Sequence[tuple[int, int]]) -> None:
        self.src = request.dst
        self.dst = request.src
        self.corr = request.corr
        self.request = request
        self.answers = answers


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class LeaderAndIsr(ControlRequest):
    """ZooKeeper era.  `states`: (tp, partition record, is_new)."""

    __slots__ = ("live", "states")
    kind = LEADER_AND_ISR

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        controller_epoch: int,
        broker_epoch: int,
        states: Sequence[tuple[int, Any, bool]],
        live: dict[int, int],
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.states = states
        self.live = live


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class UpdateMetadata(ControlRequest):
    """ZooKeeper era.  `states`: (tp, partition record); `live`: broker id -> broker epoch."""

    __slots__ = ("live", "states")
    kind = UPDATE_METADATA

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        controller_epoch: int,
        broker_epoch: int,
        states: Sequence[tuple[int, Any]],
        live: dict[int, int],
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.states = states
        self.live = live


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class StopReplica(ControlRequest):
    """ZooKeeper era.  `states`: (tp, leader epoch, delete)."""

    __slots__ = ("states",)
    kind = STOP_REPLICA

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        controller_epoch: int,
        broker_epoch: int,
        states: Sequence[tuple[int, int, bool]],
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.states = states


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class StopReplicaResponse(ControlAnswer):
    """ZooKeeper era.  Sent only for a topic that is being deleted."""

    __slots__ = ()
    kind = STOP_REPLICA_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class LeaderAndIsrResponse(ControlAnswer):
    """ZooKeeper era.  Sent only if a log directory has failed."""

    __slots__ = ()
    kind = LEADER_AND_ISR_R


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class LogDirEvent(Message):
    """ZooKeeper era: the znode by which a broker reports a failed log directory (KIP-112)."""

    __slots__ = ()
    kind = LOG_DIR_EVENT


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class AssignReplicasToDirs(Message):
    """KRaft (KIP-858).  `items`: (tp, directory), where the broker's logs are now."""

    __slots__ = ("broker_epoch", "items")
    kind = ASSIGN_DIRS

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        broker_epoch: int,
        items: Sequence[tuple[int, int]],
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.broker_epoch = broker_epoch
        self.items = items


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class AssignReplicasToDirsResponse(Message):
    __slots__ = ("error", "items")
    kind = ASSIGN_DIRS_R

    def __init__(
        self, src: int, dst: int, corr: int, error: int, items: Sequence[tuple[int, int]]
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.items = items


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class ShutdownRequest(Message):
    """ControlledShutdown of the ZooKeeper era."""

    __slots__ = ("broker_epoch",)
    kind = SHUTDOWN

    def __init__(self, src: int, dst: int, corr: int, broker_epoch: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.broker_epoch = broker_epoch


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class ShutdownResponse(Message):
    __slots__ = ("error", "remaining")
    kind = SHUTDOWN_R

    def __init__(self, src: int, dst: int, corr: int, error: int, remaining: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.remaining = remaining
