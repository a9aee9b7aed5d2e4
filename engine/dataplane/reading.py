"""Reading one partition for a Fetch (data-plane specification, S-2, S-3, L-6, R-6)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.dataplane.limits import Budget, limited
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    KAFKA_STORAGE_ERROR,
    NONE,
    NOT_LEADER_OR_FOLLOWER,
    OFFSET_MOVED_TO_TIERED_STORAGE,
    OFFSET_OUT_OF_RANGE,
    UNKNOWN_LEADER_EPOCH,
    UNKNOWN_SERVER_ERROR,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from engine.model.log import Batch, Log
from engine.model.messages import (
    NO_BROKER,
    NO_EPOCH,
    FetchData,
    FetchPartition,
    FetchRequest,
    Oversized,
    Redirection,
)
from engine.model.profiles import FETCH, Profile
from engine.model.state import FOLLOWER, LEADER, Replica

UNDEFINED_HW = -1


def not_hosted(broker: Process, tp: int) -> int:
    """S-2.1.  Return the error for a partition on a failed disk, hosted elsewhere or unknown."""
    if tp in broker.offline:
        return KAFKA_STORAGE_ERROR
    return NOT_LEADER_OR_FOLLOWER if tp in broker.metadata else UNKNOWN_TOPIC_OR_PARTITION


def access_error(replica: Replica, leader_epoch: int, leader_only: bool) -> int:
    """S-2.4, S-2.5, T-3.  Compare the epochs, then the role, and return the error.

    CurrentLeaderEpoch is compared with the receiver's own, unless it is absent.  A replica that has
    no role yet is older than any epoch, and no leader; a reader that does not insist on the leader
    may read what it holds.
    """
    if leader_epoch != NO_EPOCH and leader_epoch != replica.leader_epoch:
        return FENCED_LEADER_EPOCH if leader_epoch < replica.leader_epoch else UNKNOWN_LEADER_EPOCH
    if replica.role == LEADER:
        return NONE
    readable = replica.role == FOLLOWER or replica.leader_epoch == NO_EPOCH
    return NOT_LEADER_OR_FOLLOWER if leader_only or not readable else NONE


def _may_follow(m: FetchRequest) -> bool:
    """C-8.  Check whether a consumer (never a replica) may read from a follower (KIP-392)."""
    return m.rack is not None and m.replica < 0


def error_before_read(broker: Process, m: FetchRequest, fp: FetchPartition) -> int:
    """S-2.1 - S-2.6.  Return the first reason why this partition may not be read here."""
    replica = broker.replicas.get(fp.tp)
    if replica is None:
        return not_hosted(broker, fp.tp)
    epoch = fp.leader_epoch
    if replica.role != LEADER or (epoch != replica.leader_epoch and epoch != NO_EPOCH):
        error = access_error(replica, epoch, not _may_follow(m))
        if error:
            return error
    if (
        m.replica >= 0
        and m.replica not in replica.assignment
        and replica.profile.unknown_follower_error
    ):
        # KAFKA-13837: this leader has not heard yet that the follower is a replica.
        return NOT_LEADER_OR_FOLLOWER if fp.leader_epoch == NO_EPOCH else UNKNOWN_LEADER_EPOCH
    return NONE


def preferred_read_replica(broker: Process, rack: str, fp: FetchPartition, now: int) -> int:
    """C-8, S-2.3.  Return the replica that should serve a consumer that stands in `rack`.

    RackAwareReplicaSelector: the leader itself (NO_BROKER) if it stands there, too, or no other
    replica does; else, of the in-sync followers in that rack which have the wanted offset, the one
    that is furthest.
    """
    replica = broker.replicas[fp.tp]
    racks = broker.machine.racks
    if replica.role == FOLLOWER and replica.former and broker.configs.rack_aware_reads:
        return _remembered(broker, replica, rack, fp.offset)
    if (
        replica.role != LEADER
        or not broker.configs.rack_aware_reads
        or racks.get(broker.id) == rack
    ):
        return NO_BROKER
    candidates = [
        (remote.leo, -(now - remote.last_caught_up_ms), follower)
        for follower, remote in replica.remote.items()
        if _may_serve(broker, replica, follower)
        and racks.get(follower) == rack
        and remote.log_start <= fp.offset <= remote.leo
    ]
    return max(candidates)[2] if candidates else NO_BROKER


def _remembered(broker: Process, replica: Replica, rack: str, offset: int) -> int:
    """C-8, 2.6 - 3.2.  Choose by the positions of the own last term as a leader.

    `ReplicaManager.findPreferredReadReplica` at 3.2.3 asks for a leader, not whether this is the
    one (KAFKA-13778).  A choice of the leader is filtered out.
    """
    racks = broker.machine.racks
    if racks.get(replica.leader) == rack:
        return NO_BROKER
    candidates = [
        (leo, follower)
        for follower, leo, start in replica.former
        if racks.get(follower) == rack
        and start <= offset <= leo
        and _may_serve(broker, replica, follower)
    ]
    return max(candidates)[1] if candidates else NO_BROKER


def _may_serve(broker: Process, replica: Replica, follower: int) -> bool:
    """C-8.  Check for an ISR member; until 3.3.1 it is enough that the leader knows its address."""
    if replica.profile.reads_only_in_isr:
        return follower in replica.isr
    peer = broker.peers.get(follower)
    return peer is not None and peer.alive and not peer.fenced


def divergence(
    log: Log, fp: FetchPartition, epochs_first: bool = False
) -> tuple[int, tuple[int, int] | None]:
    """S-3, T-4.  Return (error, diverging (epoch, end) or None) for a Fetch with a last epoch.

    An offset below the log start is out of range; until 2.7.1, and in 2.8.0, that is found only
    after the comparison of the epochs (`Partition.readRecords` at 2.8.0, KAFKA-12996).
    """
    epoch, end = log.end_offset_for_epoch(fp.last_epoch)
    if end < 0 or (fp.offset < log.log_start and not epochs_first):
        return OFFSET_OUT_OF_RANGE, None
    if epoch < fp.last_epoch or end < fp.offset:
        return NONE, (epoch, end)
    return NONE, None


def tells_divergence(profile: Profile) -> bool:
    """S-3.  Check whether a leader looks at the last epoch of a fetch.

    From 2.7 on, and wherever followers rely on it.
    """
    return profile.answers_divergence or profile.truncation == FETCH


def agrees_at_once(log: Log, fp: FetchPartition) -> bool:
    """S-3, the usual case.  Check that the follower's last epoch is this log's, offset within."""
    epochs = log.epochs.epochs
    return len(epochs) > 0 and epochs[-1] == fp.last_epoch and log.log_start <= fp.offset <= log.leo


def held_back(broker: Process, m: FetchRequest, tp: int, now: int, waiting: bool = False) -> bool:
    """Q-2.  Check whether this follower may have no records of the partition for now.

    Members of the ISR may, but for 0.10.1.0 (KAFKA-4313); while their fetch is `waiting` not before
    1.0.2 and 1.1.1 (`DelayedFetch.tryComplete`, KAFKA-6937).
    """
    if broker.quotas is None or m.replica < 0:
        return False
    profile = broker.profile
    covered = profile.quota_covers_in_sync or (waiting and profile.waiting_fetch_throttled)
    in_isr = not covered and m.replica in broker.replicas[tp].isr
    return broker.quotas.leader_holds_back(tp, m.replica, in_isr, now)


def read_partition(
    broker: Process,
    m: FetchRequest,
    fp: FetchPartition,
    out: Effects,
    budget: Budget | None = None,
) -> FetchData:
    """S-2.7 - S-2.9, H-10.  Return one partition's answer, with HW and log start of *now*.

    `budget` is what the answer may still carry; nothing limits it if there is none.

    The caller updates the follower's state afterwards, so an answer given at once carries the high
    watermark from before this very fetch (H-5.1).
    """
    error = error_before_read(broker, m, fp)
    if error:
        out.cue("S-2.epoch_check", broker.id, "error", fp.leader_epoch, error, tp=fp.tp)
        return FetchData(fp.tp, error, UNDEFINED_HW, UNDEFINED_HW, ())
    log = broker.replicas[fp.tp].log
    if fp.last_epoch >= 0 and not agrees_at_once(log, fp) and tells_divergence(broker.profile):
        error, diverging = divergence(log, fp, broker.profile.diverges_below_start)
        if error:
            return FetchData(fp.tp, error, UNDEFINED_HW, log.log_start, ())
        if diverging is not None:
            out.cue("S-3", broker.id, "diverging", fp.last_epoch, diverging, tp=fp.tp)
            return FetchData(fp.tp, NONE, log.hw, log.log_start, (), diverging)
    if m.replica >= 0:
        bound = log.leo
    else:
        bound = log.hw
        preferred = preferred_read_replica(broker, m.rack, fp, out.now) if m.rack else NO_BROKER
        if preferred != NO_BROKER:
            return Redirection(fp.tp, log.hw, log.log_start, preferred)
    if fp.offset < log.local_start:
        return read_below_local_start(broker, m, fp, out)
    read = log.read(fp.offset, bound, m.max_records)
    if read is None:
        return FetchData(fp.tp, OFFSET_OUT_OF_RANGE, log.hw, log.log_start, ())
    batches: Sequence[Batch] = read
    throttles = broker.quotas is not None and m.replica >= 0
    if throttles and held_back(broker, m, fp.tp, out.now):
        out.cue("Q-2", broker.id, "held back", m.replica, fp.tp, tp=fp.tp)
        batches = ()
    if budget is not None:
        taken = limited(broker, fp.tp, budget, batches, out)
        if taken is None:
            return Oversized(fp.tp, log.hw, log.log_start)
        batches = taken
    if broker.quotas is not None and throttles:
        amount = sum(batch.end - batch.base for batch in batches)
        broker.quotas.count_sent(fp.tp, amount, out.now)
    return FetchData(fp.tp, NONE, log.hw, log.log_start, batches)


def read_below_local_start(
    broker: Process, m: FetchRequest, fp: FetchPartition, out: Effects
) -> FetchData:
    """R-6.  Answer a fetch of an offset that no local segment holds.

    `RemoteLogManager.read` finds the segment by the epoch of the offset; where there is none, the
    offset is out of range.  An error of the store is no error that a client knows.  A broker that
    does not know its local log start looks nowhere else (KAFKA-15695).
    """
    log, store = broker.replicas[fp.tp].log, broker.machine.store
    if store is None or not log.log_start <= fp.offset < log.known_local_start():
        return FetchData(fp.tp, OFFSET_OUT_OF_RANGE, log.hw, log.log_start, ())
    if m.replica >= 0:
        out.cue("R-6.moved", broker.id, "moved", fp.offset, log.local_start, tp=fp.tp)
        return FetchData(fp.tp, OFFSET_MOVED_TO_TIERED_STORAGE, log.hw, log.log_start, ())
    segment = store.log_of(fp.tp).segment_at(log.epochs.epoch_for_offset(fp.offset), fp.offset)
    if segment is None:
        out.cue("R-6.missing", broker.id, "remote read", fp.offset, None, tp=fp.tp)
        return FetchData(fp.tp, OFFSET_OUT_OF_RANGE, log.hw, log.log_start, ())
    if not store.up:
        out.cue("R-6.failed", broker.id, "remote read", fp.offset, None, tp=fp.tp)
        return FetchData(fp.tp, UNKNOWN_SERVER_ERROR, log.hw, log.log_start, ())
    batches = [batch for batch in segment.batches if batch.end > fp.offset]
    out.cue("R-6", broker.id, "remote read", fp.offset, segment.end, tp=fp.tp)
    return FetchData(fp.tp, NONE, log.hw, log.log_start, batches[: m.max_records])
