"""In-sync replicas as the leader sees them (S-4, S-7 - S-9; control-plane section 4)."""

from __future__ import annotations

from engine.dataplane.isr_propagation import note_change
from engine.dataplane.purgatory import after_hw
from engine.dataplane.watermark import eligible, maybe_increment_hw
from engine.model.broker import Process
from engine.model.control_messages import (
    AlterAnswer,
    AlterItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    INELIGIBLE_REPLICA,
    INVALID_REQUEST,
    INVALID_UPDATE_VERSION,
    NEW_LEADER_ELECTED,
    NONE,
    NOT_LEADER_OR_FOLLOWER,
    OPERATION_NOT_ATTEMPTED,
    UNKNOWN_TOPIC_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from engine.model.messages import CONTROLLER
from engine.model.profiles import Profile
from engine.model.state import COMMITTED, EXPAND, LEADER, NEVER, SHRINK, RemoteReplica, Replica
from engine.model.timers import ALTER_RETRY

RETRY_MS = 50
UNREACHABLE_RETRY_MS = 1000
"""Pause after a request without an answer.  Kafka connects again every 50 ms, or asks for the
controller every 100 (`NodeToControllerRequestThread.doWork`), and sends nothing before it is
connected.  That moment is `faults.hear_again` here; only a request that is lost waits so long.
"""

BACK_TO_COMMITTED = frozenset((OPERATION_NOT_ATTEMPTED, INELIGIBLE_REPLICA))
STAY_PENDING = frozenset(
    (
        UNKNOWN_TOPIC_OR_PARTITION,
        UNKNOWN_TOPIC_ID,
        FENCED_LEADER_EPOCH,
        INVALID_UPDATE_VERSION,
        INVALID_REQUEST,
        NEW_LEADER_ELECTED,
    )
)


# -- the follower clock ---------------------------------------------------------------------------


def update_follower_fetch_state(
    broker: Process,
    replica: Replica,
    follower: int,
    offset: int,
    log_start: int,
    leader_leo: int,
    broker_epoch: int,
    out: Effects,
) -> int:
    """S-4, CP-ISR-CLOCK.  Note a fetch at `offset`; maybe expand the ISR, maybe move HW.

    `leader_leo` is the leader's end when the fetch was read.  Returns an error code:
    NOT_LEADER_OR_FOLLOWER when the fetch came from a former incarnation (KIP-903, 3.5).
    """
    remote = replica.remote.get(follower)
    if remote is None:
        return NONE
    if broker_epoch != -1 and replica.profile.isr_broker_epoch:
        peer = broker.peers.get(follower)
        if peer is not None and peer.broker_epoch > broker_epoch:
            return NOT_LEADER_OR_FOLLOWER
    now = out.now
    if remote.last_fetch is not None:
        remote.unsettle()
    if offset >= leader_leo:
        remote.caught_up_ms = max(remote.caught_up_ms, now)
    elif replica.profile.caughtup_prev_fetch and offset >= remote.last_fetch_leader_leo:
        remote.caught_up_ms = max(remote.caught_up_ms, remote.fetched_ms)
    before = remote.leo
    remote.leo = offset
    remote.log_start = log_start
    remote.last_fetch_leader_leo = max(remote.last_fetch_leader_leo, leader_leo)
    remote.fetched_ms = now
    remote.broker_epoch = broker_epoch
    if before != offset and out.cues is not None:
        out.cue("S-4", broker.id, "remote", before, offset, tp=replica.tp, about=follower)
    if follower not in replica.isr:
        maybe_expand_isr(broker, replica, follower, out)
    if before != offset and maybe_increment_hw(broker, replica, out):
        after_hw(broker, replica, out)
    return NONE


def forget_position(replica: Replica, follower: int) -> None:
    """S-4, 0.9 - 2.3.  Take the -1 of a failed read for the follower's position.

    `Replica.updateLogReadResult` at 2.3.1 notes what was read, whatever came of it (KAFKA-8400).
    """
    remote = replica.remote.get(follower)
    if remote is not None:
        remote.leo = remote.log_start = remote.last_fetch_leader_leo = -1
        remote.last_fetch_ms = NEVER


def reset_follower_clocks(replica: Replica, was_leader: bool, now: int) -> None:
    """H-8.3, CP-ISR-CLOCK.  Begin an epoch: members count as caught up now, others never."""
    for follower, remote in replica.remote.items():
        in_sync = follower in replica.isr
        remote.last_caught_up_ms = now if in_sync else NEVER
        if was_leader:
            remote.last_fetch_leader_leo = replica.log.leo
            remote.last_fetch_ms = now if in_sync else NEVER
        else:
            remote.leo = -1
            remote.log_start = -1
            remote.last_fetch_leader_leo = -1
            remote.last_fetch_ms = NEVER
            remote.broker_epoch = -1


# -- how it looks from outside -----------------------------------------------------------------


def under_replicated(replica: Replica) -> bool:
    """Data-plane 12, UnderReplicated.  Check for replicas that the ISR lacks, except added ones."""
    wanted = [b for b in replica.assignment if b not in replica.adding]
    return replica.role == LEADER and len(replica.isr) < len(wanted)


def under_min_isr(replica: Replica) -> bool:
    """12, UnderMinIsr.  Check whether acks=all is refused, and from 3.7 on HW stands still."""
    return replica.role == LEADER and len(replica.isr) < replica.min_isr()


def at_min_isr(replica: Replica) -> bool:
    """12, AtMinIsr.  Check whether acks=all is refused after one more loss."""
    return replica.role == LEADER and len(replica.isr) == replica.min_isr()


# -- expand and shrink -------------------------------------------------------------------------


def reaches_mark(replica: Replica, remote: RemoteReplica) -> bool:
    """S-7, CP-ISR-EXPAND 2.  Check whether the follower has all below the high watermark."""
    return remote.leo >= replica.log.hw


def reaches_epoch_start(replica: Replica, remote: RemoteReplica) -> bool:
    """S-7, CP-ISR-EXPAND 3, KAFKA-7128.  Check that it has all from before this leader's epoch."""
    return not replica.profile.join_needs_epoch_start or remote.leo >= replica.epoch_start


def may_be_proposed(broker: Process, replica: Replica, follower: int) -> bool:
    """S-7, CP-ISR-EXPAND 4, KIP-841.  Check whether the controller would take the follower."""
    remote = replica.remote[follower]
    return not replica.profile.isr_eligibility or eligible(broker, follower, remote)


def with_follower(replica: Replica, follower: int) -> tuple[int, ...]:
    """Return the committed ISR and the follower, in the order of the assignment."""
    return tuple(b for b in replica.assignment if b in replica.isr or b == follower)


def maybe_expand_isr(broker: Process, replica: Replica, follower: int, out: Effects) -> None:
    """S-7, CP-ISR-EXPAND.  Expand the ISR if LEO >= HW, and (2.0.1) >= the epoch's start.

    Nothing else keeps a follower out: one that is throttled stays out until it has caught up (Q-7).
    """
    remote = replica.remote[follower]
    if (
        replica.pending != COMMITTED
        or follower in replica.isr
        or follower not in replica.assignment
        or not reaches_mark(replica, remote)
    ):
        return
    if not reaches_epoch_start(replica, remote):
        out.cue(
            "S-7.epoch_start",
            broker.id,
            "remote",
            remote.leo,
            replica.epoch_start,
            tp=replica.tp,
            about=follower,
        )
        return
    if not may_be_proposed(broker, replica, follower):
        return
    isr = with_follower(replica, follower)
    out.cue("S-7", broker.id, "isr", replica.isr, isr, tp=replica.tp)
    _propose(broker, replica, EXPAND, isr, out)


def out_of_sync(replica: Replica, now: int) -> list[int]:
    """S-8, CP-ISR-SHRINK.  Return members not caught up for longer than the lag time."""
    if replica.pending != COMMITTED:
        return []  # one change at a time
    return [
        follower
        for follower in replica.isr
        if follower in replica.remote and is_late(replica, replica.remote[follower], now)
    ]


def is_late(replica: Replica, remote: RemoteReplica, now: int) -> bool:
    """S-8, CP-ISR-SHRINK.  Check for a lag that is too old, or (0.8) too many records.

    In 0.8.0 (KAFKA-1170), and from 2.1 on, no follower at the leader's end is late.
    """
    profile, leo, configs = replica.profile, replica.log.leo, replica.configs
    if remote.leo == leo and (profile.leo_equal_is_insync or profile.silent_at_the_end_stays):
        return False
    if profile.lag_messages and leo - remote.leo > configs.lag_max_messages:
        return True
    return now - remote.last_caught_up_ms > configs.lag_time_max_ms


def maybe_shrink_isr(broker: Process, replica: Replica, out: Effects) -> None:
    """S-8, CP-ISR-SHRINK.  Run isr-expiration for one partition."""
    if replica.role != LEADER:
        return
    late = out_of_sync(replica, out.now)
    if late:
        isr = tuple(b for b in replica.isr if b not in late)
        out.cue("S-8", broker.id, "isr", replica.isr, isr, tp=replica.tp)
        _propose(broker, replica, SHRINK, isr, out)


def _propose(
    broker: Process, replica: Replica, kind: int, isr: tuple[int, ...], out: Effects
) -> None:
    """CP-ALTER, sender.  Propose an ISR; HW counts an expansion at once, a shrink once accepted."""
    if replica.tp in broker.alter_queue:
        return  # OPERATION_NOT_ATTEMPTED: an earlier request of this partition is not answered yet
    replica.pending = kind
    replica.pending_isr = isr
    if kind == EXPAND and replica.profile.alter_partition:
        replica.maximal_isr = isr
    broker.alter_queue[replica.tp] = proposal(broker, replica, isr)
    send_alter_partition(broker, out)


def proposal(broker: Process, replica: Replica, isr: tuple[int, ...]) -> AlterItem:
    """CP-ALTER.  Return the proposal: own epochs, and each member's epoch of its last fetch."""
    epochs = tuple((b, _known_epoch(broker, replica, b)) for b in isr)
    return AlterItem(replica.tp, replica.leader_epoch, replica.partition_epoch, epochs)


def _known_epoch(broker: Process, replica: Replica, member: int) -> int:
    return broker.broker_epoch if member == broker.id else replica.remote[member].broker_epoch


def send_alter_partition(broker: Process, out: Effects) -> None:
    """CP-ALTER.  Send all queued items, with one request in flight for the whole broker."""
    if broker.alter_corr == 0 and broker.alter_queue:
        broker.alter_corr = broker.next_corr()
        out.send(
            AlterPartitionRequest(
                broker.id,
                CONTROLLER,
                broker.alter_corr,
                broker.broker_epoch,
                tuple(broker.alter_queue.values()),
                not broker.profile.alter_partition,
                alter_version(broker.profile),
            )
        )


def alter_version(profile: Profile) -> int:
    """Return the AlterPartition version that a broker of this release sends.

    1 has the recovery state (KIP-704), 2 topic ids (KIP-841), 3 broker epochs (KIP-903).
    """
    if profile.isr_broker_epoch:
        return 3
    return 2 if profile.isr_eligibility else int(profile.leader_recovery_state)


def on_alter_partition_response(broker: Process, m: AlterPartitionResponse, out: Effects) -> None:
    """S-9, CP-ALTER.  Handle the controller's answer on the leader."""
    if m.corr != broker.alter_corr:
        return
    broker.alter_corr = 0
    if m.error:
        out.timer(broker.id, RETRY_MS, ALTER_RETRY)
        return
    for answer in m.items:
        item = broker.alter_queue.pop(answer.tp, None)
        replica = broker.replicas.get(answer.tp)
        if item is not None and replica is not None:
            _on_alter_answer(broker, replica, item, answer, out)
    send_alter_partition(broker, out)


def on_alter_partition_broken(broker: Process, corr: int, out: Effects) -> None:
    """CP-ALTER.  Send the request again, without a time-out, until a controller answers."""
    if corr == broker.alter_corr:
        broker.alter_corr = 0
        out.timer(broker.id, UNREACHABLE_RETRY_MS, ALTER_RETRY)


def _on_alter_answer(
    broker: Process, replica: Replica, item: AlterItem, answer: AlterAnswer, out: Effects
) -> None:
    if (
        replica.pending == COMMITTED
        or item.leader_epoch != replica.leader_epoch
        or item.partition_epoch != replica.partition_epoch
    ):
        return  # overtaken by newer metadata
    error = answer.error
    if error == NONE:
        if (
            answer.leader_epoch == replica.leader_epoch
            and answer.partition_epoch >= replica.partition_epoch
        ):
            commit_isr(broker, replica, answer.isr, answer.partition_epoch, out)
            if not replica.profile.alter_partition:
                note_change(broker, replica.tp, out)
    elif error in BACK_TO_COMMITTED or not replica.profile.alter_partition:
        # A leader that writes ZooKeeper itself drops the change on a version conflict.
        out.cue("S-9.rejected", broker.id, "isr", replica.pending_isr, replica.isr, tp=replica.tp)
        drop_pending(replica)
    elif error not in STAY_PENDING:
        broker.alter_queue[replica.tp] = item
    else:
        out.cue("S-9.pending", broker.id, "error", None, error, tp=replica.tp)


def drop_pending(replica: Replica) -> None:
    replica.pending = COMMITTED
    replica.pending_isr = ()
    replica.maximal_isr = replica.isr


def commit_isr(
    broker: Process, replica: Replica, isr: tuple[int, ...], partition_epoch: int, out: Effects
) -> None:
    """S-9, H-3.  Replace the committed ISR by the confirmed one; end waiting requests (H-2).

    From 2.7 to 3.0 the high watermark waits for the next append or fetch
    (`Partition.handleAlterIsrResponse` at 3.0.2, KAFKA-13091).
    """
    out.cue("S-9", broker.id, "isr", replica.isr, isr, tp=replica.tp)
    replica.isr = isr
    replica.partition_epoch = partition_epoch
    drop_pending(replica)
    if replica.profile.isr_change_leaves_hw:
        return
    if maybe_increment_hw(broker, replica, out):
        after_hw(broker, replica, out)
