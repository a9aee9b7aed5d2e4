"""Messages between nodes.  A message is never changed once it was sent.

Nodes: brokers are integers >= 0, CONTROLLER is the controller side (a KRaft quorum, or ZooKeeper
with its controller), clients lie below.  Where a quorum is played as its voters, they lie between
CONTROLLER and the clients.  `corr` is the sender's own number; the answer repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from engine.model.compiling import mypyc_attr
from engine.model.configs import Limits
from engine.model.declared import acyclic, unset
from engine.model.log import Batch

CONTROLLER: Final = -1
FIRST_VOTER: Final = -2
MOST_VOTERS: Final = 7
FIRST_PRODUCER: Final = -11
FIRST_CONSUMER: Final = -31
NO_BROKER: Final = -1
NO_EPOCH: Final = -1
LATEST: Final = -1
EARLIEST: Final = -2
EARLIEST_LOCAL: Final = -4

FETCH: Final = 1
FETCH_R: Final = 2
EPOCH_END: Final = 3
EPOCH_END_R: Final = 4
LIST_OFFSETS: Final = 5
LIST_OFFSETS_R: Final = 6
PRODUCE: Final = 7
PRODUCE_R: Final = 8
ALTER_PARTITION: Final = 9
ALTER_PARTITION_R: Final = 10
HEARTBEAT: Final = 11
HEARTBEAT_R: Final = 12
REGISTER: Final = 13
REGISTER_R: Final = 14
METADATA_FETCH: Final = 15
METADATA_FETCH_R: Final = 16
LEADER_AND_ISR: Final = 17
UPDATE_METADATA: Final = 18
STOP_REPLICA: Final = 19
SHUTDOWN: Final = 20
SHUTDOWN_R: Final = 21
CLIENT_METADATA: Final = 22
CLIENT_METADATA_R: Final = 23
BROKEN: Final = 24
STOP_REPLICA_R: Final = 25
LEADER_AND_ISR_R: Final = 26
LOG_DIR_EVENT: Final = 27
ASSIGN_DIRS: Final = 28
ASSIGN_DIRS_R: Final = 29
SESSION_CLOSED: Final = 40
ISR_CHANGE: Final = 41
VOTE: Final = 50
VOTE_R: Final = 51
BEGIN_EPOCH: Final = 52
BEGIN_EPOCH_R: Final = 53
END_EPOCH: Final = 54
END_EPOCH_R: Final = 55
QUORUM_FETCH: Final = 56
QUORUM_FETCH_R: Final = 57
NOT_CONTROLLER_R: Final = 58
FIND_COORDINATOR: Final = 60
FIND_COORDINATOR_R: Final = 61
JOIN_GROUP: Final = 62
JOIN_GROUP_R: Final = 63
LEAVE_GROUP: Final = 64
LEAVE_GROUP_R: Final = 65
GROUP_HEARTBEAT: Final = 66
GROUP_HEARTBEAT_R: Final = 67
OFFSET_COMMIT: Final = 68
OFFSET_COMMIT_R: Final = 69
OFFSET_FETCH: Final = 70
OFFSET_FETCH_R: Final = 71
CONSUMER_HEARTBEAT: Final = 72
CONSUMER_HEARTBEAT_R: Final = 73

NAMES: Final = {
    FETCH: "Fetch",
    FETCH_R: "Fetch",
    EPOCH_END: "OffsetForLeaderEpoch",
    EPOCH_END_R: "OffsetForLeaderEpoch",
    LIST_OFFSETS: "ListOffsets",
    LIST_OFFSETS_R: "ListOffsets",
    PRODUCE: "Produce",
    PRODUCE_R: "Produce",
    ALTER_PARTITION: "AlterPartition",
    ALTER_PARTITION_R: "AlterPartition",
    HEARTBEAT: "BrokerHeartbeat",
    HEARTBEAT_R: "BrokerHeartbeat",
    REGISTER: "BrokerRegistration",
    REGISTER_R: "BrokerRegistration",
    METADATA_FETCH: "MetadataFetch",
    METADATA_FETCH_R: "MetadataFetch",
    LEADER_AND_ISR: "LeaderAndIsr",
    UPDATE_METADATA: "UpdateMetadata",
    STOP_REPLICA: "StopReplica",
    SHUTDOWN: "ControlledShutdown",
    SHUTDOWN_R: "ControlledShutdown",
    CLIENT_METADATA: "Metadata",
    CLIENT_METADATA_R: "Metadata",
    BROKEN: "connection lost",
    STOP_REPLICA_R: "StopReplica",
    LEADER_AND_ISR_R: "LeaderAndIsr",
    LOG_DIR_EVENT: "LogDirEvent",
    ASSIGN_DIRS: "AssignReplicasToDirs",
    ASSIGN_DIRS_R: "AssignReplicasToDirs",
    SESSION_CLOSED: "SessionClosed",
    ISR_CHANGE: "IsrChange",
    VOTE: "Vote",
    VOTE_R: "Vote",
    BEGIN_EPOCH: "BeginQuorumEpoch",
    BEGIN_EPOCH_R: "BeginQuorumEpoch",
    END_EPOCH: "EndQuorumEpoch",
    END_EPOCH_R: "EndQuorumEpoch",
    QUORUM_FETCH: "QuorumFetch",
    QUORUM_FETCH_R: "QuorumFetch",
    NOT_CONTROLLER_R: "NotController",
    FIND_COORDINATOR: "FindCoordinator",
    FIND_COORDINATOR_R: "FindCoordinator",
    JOIN_GROUP: "JoinGroup",
    JOIN_GROUP_R: "JoinGroup",
    LEAVE_GROUP: "LeaveGroup",
    LEAVE_GROUP_R: "LeaveGroup",
    GROUP_HEARTBEAT: "Heartbeat",
    GROUP_HEARTBEAT_R: "Heartbeat",
    OFFSET_COMMIT: "OffsetCommit",
    OFFSET_COMMIT_R: "OffsetCommit",
    OFFSET_FETCH: "OffsetFetch",
    OFFSET_FETCH_R: "OffsetFetch",
    CONSUMER_HEARTBEAT: "ConsumerGroupHeartbeat",
    CONSUMER_HEARTBEAT_R: "ConsumerGroupHeartbeat",
}
REPLIES: Final = frozenset(
    (
        FETCH_R,
        EPOCH_END_R,
        LIST_OFFSETS_R,
        PRODUCE_R,
        ALTER_PARTITION_R,
        HEARTBEAT_R,
        REGISTER_R,
        METADATA_FETCH_R,
        SHUTDOWN_R,
        CLIENT_METADATA_R,
        STOP_REPLICA_R,
        LEADER_AND_ISR_R,
        ASSIGN_DIRS_R,
        VOTE_R,
        BEGIN_EPOCH_R,
        END_EPOCH_R,
        QUORUM_FETCH_R,
        NOT_CONTROLLER_R,
        FIND_COORDINATOR_R,
        JOIN_GROUP_R,
        LEAVE_GROUP_R,
        GROUP_HEARTBEAT_R,
        OFFSET_COMMIT_R,
        OFFSET_FETCH_R,
        CONSUMER_HEARTBEAT_R,
    )
)
REPLICATION: Final = frozenset(
    (FETCH, FETCH_R, EPOCH_END, EPOCH_END_R, LIST_OFFSETS, LIST_OFFSETS_R)
)
"""The messages of the replication path: with manual fetching a hand delivers them."""


@acyclic
class Message:
    """Common part.  `id`, `sent`, `due` (ms) are the network's, set when it takes it."""

    src: int
    dst: int
    corr: int
    due: int = unset()
    id: int = unset()
    sent: int = unset()
    of_class: ClassVar = ("kind",)
    kind = 0


@acyclic
class FetchPartition:
    """One partition of a Fetch: from where, and what the fetcher believes."""

    tp: int
    offset: int
    last_epoch: int  # LastFetchedEpoch, -1 = not said (before truncation on fetch)
    leader_epoch: int  # CurrentLeaderEpoch, -1 = not said (before KIP-320)
    log_start: int


@acyclic
class FetchChanges:
    """Parts that differ from those of the sender's fetch `after`; 0: there is none to compare with.

    `moved` are those that have gone to the end, in their order; all others kept their places.
    """

    after: int
    updated: Sequence[FetchPartition]
    moved: Sequence[FetchPartition]


@acyclic
class FetchRequest(Message):
    """Fetch (1).

    `replica`: the follower's id, -1 for a consumer; `max_records` per partition; `limits`: what it
    says of bytes, None for a consumer.

    `rack`: where a consumer stands that may also be served by a follower, "" for nowhere (KIP-392,
    version 11); None for a replica, and for a consumer that does not know of it.  `changes`: what
    of it is different from the fetch before, if the leader is to remember it.
    """

    partitions: Sequence[FetchPartition]
    replica: int
    replica_epoch: int
    max_wait: int
    min_bytes: int
    max_records: int
    rack: str | None = None
    limits: Limits | None = None
    changes: FetchChanges | None = None
    kind = FETCH


@acyclic
class FetchData:
    """One partition of a Fetch answer."""

    tp: int
    error: int
    hw: int
    log_start: int
    batches: Sequence[Batch]
    diverging: tuple[int, int] | None = None


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class Redirection(FetchData):
    """C-8.  The leader returns no records but the replica to read from: PreferredReadReplica."""

    __slots__ = ("preferred",)

    def __init__(self, tp: int, hw: int, log_start: int, preferred: int) -> None:
        FetchData.__init__(self, tp, 0, hw, log_start, ())
        self.preferred = preferred


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class Oversized(FetchData):
    """Before KIP-74: the beginning of a batch that is larger than the fetch may be, of no use."""

    __slots__ = ()

    def __init__(self, tp: int, hw: int, log_start: int) -> None:
        FetchData.__init__(self, tp, 0, hw, log_start, ())


@acyclic
class FetchResponse(Message):
    """Answer to a Fetch.  `news`: what may differ from the answer before it; None: all may."""

    partitions: Sequence[FetchData]
    news: Sequence[FetchData] | None = None
    kind = FETCH_R


@acyclic
class EpochEndRequest(Message):
    """OffsetForLeaderEpoch (23).  `partitions`: (tp, requested epoch, current leader epoch)."""

    partitions: Sequence[tuple[int, int, int]]
    kind = EPOCH_END


@acyclic
class EpochEndResponse(Message):
    """`partitions`: (tp, error, epoch, end offset); the epoch is -1 in version 0 (KIP-101)."""

    partitions: Sequence[tuple[int, int, int, int]]
    kind = EPOCH_END_R


@acyclic
class ListOffsetsRequest(Message):
    """ListOffsets (2).  LATEST is the leader's log end to a replica, its HW to a client."""

    tp: int
    timestamp: int
    leader_epoch: int
    kind = LIST_OFFSETS


@acyclic
class ListOffsetsResponse(Message):
    tp: int
    timestamp: int
    error: int
    offset: int
    leader_epoch: int = NO_EPOCH
    kind = LIST_OFFSETS_R


@acyclic
class ProduceRequest(Message):
    """Produce (0): one batch for one partition.  `acks` is -1 (all), 0 or 1.

    `times`: the timestamp of each record in ms, if the producer sets them.
    """

    tp: int
    values: tuple[str, ...]
    acks: int
    timeout: int
    producer: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    times: tuple[int, ...] | None = None
    kind = PRODUCE


@acyclic
class ProduceResponse(Message):
    tp: int
    error: int
    base: int
    values: tuple[str, ...]
    log_start: int = -1
    kind = PRODUCE_R


@acyclic
class Broken(Message):
    """Not a wire message: the requester learns that the connection of its request `corr` broke."""

    request_kind: int
    kind = BROKEN
