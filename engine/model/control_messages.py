"""Messages between brokers and the controller.  A message is never changed once it was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.model.compiling import mypyc_attr
from engine.model.copying import fields
from engine.model.declared import acyclic
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


@acyclic
class AlterItem:
    """One partition of AlterPartition.

    `isr` pairs each member with the broker epoch it fetched with (-1 = unknown).  For a ZooKeeper
    write the partition epoch is the expected znode version.  `topic` is written where the number
    alone cannot tell which topic is meant.
    """

    tp: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[int, int], ...]
    recovering: bool = False
    topic: str = ""


@acyclic
class AlterPartitionRequest(Message):
    """AlterPartition (KIP-497), or, with `direct`, the leader's own write of the state znode."""

    broker_epoch: int
    items: Sequence[AlterItem]
    direct: bool
    version: int = 3
    kind = ALTER_PARTITION


@acyclic
class AlterAnswer:
    tp: int
    error: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


@acyclic
class AlterPartitionResponse(Message):
    error: int
    items: Sequence[AlterAnswer]
    kind = ALTER_PARTITION_R


@acyclic
class Heartbeat(Message):
    """BrokerHeartbeat (KRaft) or a ping that keeps the ZooKeeper session.

    `offline_dirs`: the log directories that have failed (KIP-858, 3.7).
    """

    broker_epoch: int
    metadata_offset: int
    want_fence: bool
    want_shutdown: bool
    offline_dirs: tuple[int, ...] = ()
    kind = HEARTBEAT


@acyclic
class HeartbeatResponse(Message):
    error: int
    caught_up: bool
    fenced: bool
    should_shut_down: bool
    kind = HEARTBEAT_R


@acyclic
class RegisterRequest(Message):
    """BrokerRegistration; `incarnation` is the process, `previous_epoch` from its clean shutdown.

    `bounced`: the old session's znode is replaced before the controller looks (ZooKeeper only).
    """

    incarnation: int
    previous_epoch: int
    bounced: bool = False
    rack: str = ""
    lost_dirs: tuple[int, ...] = ()
    kind = REGISTER


@acyclic
class RegisterResponse(Message):
    error: int
    broker_epoch: int
    kind = REGISTER_R


@acyclic
class MetadataFetch(Message):
    """A KRaft broker asks for metadata records from `offset` on; the controller may wait."""

    offset: int
    kind = METADATA_FETCH


@acyclic
class MetadataRecords(Message):
    """Committed metadata records [offset, offset + len(records))."""

    offset: int
    records: Sequence[tuple[Any, ...]]
    kind = METADATA_FETCH_R


@acyclic
class ControlRequest(Message):
    """A request of ZooKeeper's controller; it is sent until the broker has answered (5.1)."""

    controller_epoch: int
    broker_epoch: int

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


@acyclic
class LeaderAndIsr(ControlRequest):
    """ZooKeeper era.  `states`: (tp, partition record, is_new)."""

    states: Sequence[tuple[int, Any, bool]]
    live: dict[int, int]
    kind = LEADER_AND_ISR


@acyclic
class UpdateMetadata(ControlRequest):
    """ZooKeeper era.  `states`: (tp, partition record); `live`: broker id -> broker epoch."""

    states: Sequence[tuple[int, Any]]
    live: dict[int, int]
    kind = UPDATE_METADATA


@acyclic
class StopReplica(ControlRequest):
    """ZooKeeper era.  `states`: (tp, leader epoch, delete)."""

    states: Sequence[tuple[int, int, bool]]
    kind = STOP_REPLICA


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


@acyclic
class LogDirEvent(Message):
    """ZooKeeper era: the znode by which a broker reports a failed log directory (KIP-112)."""

    kind = LOG_DIR_EVENT


@acyclic
class AssignReplicasToDirs(Message):
    """KRaft (KIP-858).  `items`: (tp, directory), where the broker's logs are now."""

    broker_epoch: int
    items: Sequence[tuple[int, int]]
    kind = ASSIGN_DIRS


@acyclic
class AssignReplicasToDirsResponse(Message):
    error: int
    items: Sequence[tuple[int, int]]
    kind = ASSIGN_DIRS_R


@acyclic
class ShutdownRequest(Message):
    """ControlledShutdown of the ZooKeeper era."""

    broker_epoch: int
    kind = SHUTDOWN


@acyclic
class ShutdownResponse(Message):
    error: int
    remaining: int
    kind = SHUTDOWN_R
