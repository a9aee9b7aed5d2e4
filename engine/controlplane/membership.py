"""The broker's own part of membership: registering, heartbeats, replaying metadata, shutting down.

Control-plane 1.3, 1.6 - 1.12, 5.4, 5.5.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from engine.controlplane.elr import cleared
from engine.controlplane.roles import apply_record, stop_replica
from engine.dataplane import fetcher, futures, retention
from engine.dataplane.insync import send_alter_partition
from engine.dataplane.recovery import flush_everything, forget_log_start, load_log
from engine.model.broker import Machine, Process
from engine.model.configs import Configs
from engine.model.control_messages import (
    Heartbeat,
    HeartbeatResponse,
    LeaderAndIsr,
    LeaderAndIsrResponse,
    MetadataFetch,
    MetadataRecords,
    RegisterRequest,
    RegisterResponse,
    ShutdownRequest,
    ShutdownResponse,
    StopReplica,
    StopReplicaResponse,
    UpdateMetadata,
)
from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    KAFKA_STORAGE_ERROR,
    NONE,
    STALE_BROKER_EPOCH,
    STALE_CONTROLLER_EPOCH,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from engine.model.messages import CONTROLLER
from engine.model.quorum import R_LEADER_CHANGE, R_NO_OP, R_VOTERS
from engine.model.quotas import TOPIC
from engine.model.records import DURING_DELETE, PartitionRecord
from engine.model.state import STARTING, UP, Peer
from engine.model.timers import HEARTBEAT, METADATA_RETRY, REGISTER, SHUTDOWN_RETRY

STARTING_HEARTBEAT_MS = 10
SHUTDOWN_HEARTBEAT_MS = 50
METADATA_RETRY_MS = 1000

# Metadata records (KRaft): what the controller appends and brokers replay.
R_REGISTER = "RegisterBroker"
R_CHANGE = "BrokerRegistrationChange"
R_PARTITION = "PartitionChange"
R_REMOVE = "RemoveTopic"
R_CONFIG = "Config"
R_CLEAR_ELR = "ClearElr"
R_UNREGISTER = "UnregisterBroker"


# -- registration ---------------------------------------------------------------------------------


def start(machine: Machine, out: Effects, bounced: bool) -> Process:
    """CP-KR-REG, CP-ZK-REG.  Start a process, which requests its registration."""
    broker = Process(machine)
    broker.isr_told_at = out.now
    for disk in machine.disks.values():
        forget_log_start(disk)
    for move in machine.futures.values():
        load_log(move.disk)
    if machine.broken:
        broker.offline = {tp for tp, disk in machine.disks.items() if disk.dir in machine.broken}
    broker.configure(machine.configs)
    register(broker, 0, out, bounced)
    return broker


def register(broker: Process, attempt: int, out: Effects, bounced: bool = False) -> None:
    """Send the registration; `attempt` counts the refusals so far."""
    broker.registered_corr = broker.next_corr()
    broker.register_attempt = attempt
    out.send(
        RegisterRequest(
            broker.id,
            CONTROLLER,
            broker.registered_corr,
            broker.incarnation,
            -1 if broker.machine.broken else broker.machine.clean_epoch,
            bounced,
            broker.machine.rack,
            tuple(sorted(broker.machine.broken)),
        )
    )


def on_register_response(broker: Process, m: RegisterResponse, out: Effects) -> None:
    """CP-KR-REG.  Handle the answer; refused while the old session is valid: retry later."""
    if m.corr != broker.registered_corr or broker.status != STARTING:
        return
    broker.registered_corr = 0
    if m.error != NONE:
        retry_registration(broker, out)
        return
    broker.broker_epoch = m.broker_epoch
    broker.machine.clean_epoch = -1  # the marker is removed at start
    out.cue("CP-REG", broker.id, "broker epoch", None, m.broker_epoch)
    if broker.profile.mode == "kraft":
        fetch_metadata(broker, out)
    else:
        broker.status = UP
    send_heartbeat(broker, out)


def renew_session(broker: Process, out: Effects) -> None:
    """8.3, ZooKeeper.  Begin a new session and epoch after the old one has expired.

    The process keeps its state; LeaderAndIsr will set its role.
    """
    broker.status = STARTING
    broker.broker_epoch = -1
    register(broker, 0, out)


def retry_registration(broker: Process, out: Effects) -> None:
    """Retry after 100 ms x 2^n, at most the session timeout."""
    configs = broker.configs
    broker.registered_corr = 0
    wait = min(
        configs.registration_backoff_ms << broker.register_attempt,
        configs.session_timeout_ms,
    )
    out.timer(broker.id, wait, REGISTER, broker.register_attempt + 1)


# -- heartbeats -----------------------------------------------------------------------------------


def send_heartbeat(broker: Process, out: Effects) -> None:
    """CP-KR-HB.  Send a heartbeat, in the ZooKeeper era the ping that keeps the session."""
    starting = broker.status == STARTING
    corr = broker.next_corr()
    if broker.dir_report:
        broker.dir_report = corr
    out.send(
        Heartbeat(
            broker.id,
            CONTROLLER,
            corr,
            broker.broker_epoch,
            broker.metadata_offset,
            starting and broker.metadata_offset < broker.broker_epoch,
            broker.shutting_down,
            tuple(sorted(broker.machine.broken)) if broker.machine.broken else (),
        )
    )
    if starting:
        wait = STARTING_HEARTBEAT_MS
    elif broker.shutting_down:
        wait = SHUTDOWN_HEARTBEAT_MS
    else:
        wait = broker.configs.heartbeat_ms
    broker.heartbeat_due = out.now + wait
    out.timer(broker.id, wait, HEARTBEAT)


def on_heartbeat_timer(broker: Process, out: Effects) -> bool:
    """Send the next heartbeat, unless one was sent meanwhile and set a later timer."""
    if broker.broker_epoch < 0 or out.now < broker.heartbeat_due:
        return False
    send_heartbeat(broker, out)
    return True


def on_heartbeat_response(broker: Process, m: HeartbeatResponse, out: Effects) -> None:
    """CP-KR-HB.  Become RUNNING when unfenced; a leaving broker may be released.

    A RUNNING broker ignores `fenced`: it notices only through the changes that it replays.
    """
    if m.error != NONE:
        if broker.profile.mode == "zk" and broker.status == UP:
            renew_session(broker, out)
        return
    if m.corr == broker.dir_report:
        broker.dir_report = 0
    if broker.status == STARTING and not m.fenced:
        broker.status = UP
        out.cue("CP-KR-HB", broker.id, "state", "STARTING", "RUNNING")
    if broker.shutting_down and m.should_shut_down:
        leave(broker, out)


# -- controlled shutdown --------------------------------------------------------------------------


def begin_shutdown(broker: Process, out: Effects) -> None:
    """CP-KR-SHUTDOWN, CP-ZK-SHUTDOWN.  Request the move of the leaderships first."""
    broker.shutting_down = True
    broker.shutdown_attempt = 0
    if not broker.configs.controlled_shutdown:
        leave(broker, out)
    elif broker.profile.mode == "kraft":
        send_heartbeat(broker, out)
    else:
        request_shutdown(broker, out)


def request_shutdown(broker: Process, out: Effects) -> None:
    """CP-ZK-SHUTDOWN 1.  Request a controlled shutdown."""
    out.send(ShutdownRequest(broker.id, CONTROLLER, broker.next_corr(), broker.broker_epoch))


def on_shutdown_response(broker: Process, m: ShutdownResponse, out: Effects) -> None:
    """CP-ZK-SHUTDOWN 8.  Leave if the list is empty, else retry; after the last retry leave."""
    if not broker.shutting_down:
        return
    if m.error == NONE and m.remaining == 0:
        leave(broker, out)
        return
    broker.shutdown_attempt += 1
    if broker.shutdown_attempt >= broker.configs.shutdown_retries:
        leave(broker, out)
    else:
        out.timer(broker.id, broker.configs.shutdown_backoff_ms, SHUTDOWN_RETRY)


def leave(broker: Process, out: Effects) -> None:
    """L-12.  Flush, write exact checkpoints and the clean-shutdown marker; then end the process."""
    flush_everything(broker)
    out.cue("L-12", broker.id, "clean shutdown", None, broker.broker_epoch)
    broker.halted = True


# -- metadata, KRaft ------------------------------------------------------------------------------


def fetch_metadata(broker: Process, out: Effects) -> None:
    """5.4.  Fetch the records after those applied; the controller answers when there are any."""
    broker.metadata_corr = broker.next_corr()
    out.send(MetadataFetch(broker.id, CONTROLLER, broker.metadata_corr, broker.metadata_offset))


def on_metadata_broken(broker: Process, corr: int, out: Effects) -> None:
    """Fetch metadata again later: the connection to the controller broke."""
    if corr == broker.metadata_corr:
        broker.metadata_corr = 0
        out.timer(broker.id, METADATA_RETRY_MS, METADATA_RETRY)


def on_metadata_records(broker: Process, m: MetadataRecords, out: Effects) -> None:
    """5.4.  Apply the records of an answer, of which there may be none, and fetch on."""
    if m.corr == broker.metadata_corr and m.offset == broker.metadata_offset:
        apply_and_fetch(broker, m.records, out)


def apply_and_fetch(broker: Process, records: Sequence[tuple[Any, ...]], out: Effects) -> None:
    """5.4.  Apply committed records and fetch on; a broker that starts reports how far it is."""
    if records:
        _apply_metadata(broker, records, out)
    if broker.halted:
        return
    fetch_metadata(broker, out)
    if records and broker.status == STARTING:
        send_heartbeat(broker, out)


def _apply_metadata(broker: Process, records: Sequence[tuple[Any, ...]], out: Effects) -> None:
    """CP-KR-APPLY.  Merge all records available and act once on the resulting image.

    Partitions change before settings do (`BrokerMetadataPublisher.onMetadataUpdate`): a new leader
    moves its mark by the old min.insync.replicas.  Logs read at the start have the new ones.
    """
    changed: dict[int, PartitionRecord | None] = {}
    configs = []
    for record in records:
        kind = record[0]
        if kind == R_PARTITION:
            changed[record[1]] = record[2]
        elif kind == R_REMOVE:
            changed[record[1]] = None
        elif kind == R_CONFIG:
            configs.append(record[1])
        elif kind == R_CLEAR_ELR:
            _clear_elr(broker, record[1], changed)
        elif kind == R_UNREGISTER:
            broker.peers.pop(record[1], None)
        elif kind not in (R_LEADER_CHANGE, R_NO_OP, R_VOTERS):
            _apply_broker_record(broker, record)
    before = broker.metadata_offset
    if not changed or before == 0:
        _configure(broker, configs, out)
    broker.metadata_offset += len(records)
    out.cue("CP-KR-APPLY", broker.id, "metadata offset", before, broker.metadata_offset)
    blocked = blocked_by_strays(broker, changed) if before == 0 else ()
    if before == 0 and broker.machine.futures and broker.offline:
        futures.take_over_abandoned(broker, _assigned(broker, records), out)
        if broker.halted:
            return
    apply_changes(broker, changed, out, blocked)
    if before == 0:
        delete_strays(broker, out)
    elif changed:
        _configure(broker, configs, out)


def _configure(broker: Process, configs: Iterable[Configs], out: Effects) -> None:
    for one in configs:
        fetcher.configure(broker, one, out)
        retention.arm(broker, out)


def _clear_elr(
    broker: Process, tps: Iterable[int], changed: dict[int, PartitionRecord | None]
) -> None:
    """CP-ELR 6.4.  Remove the ELRs from the image; no partition changes, no replica acts on it."""
    for tp in tps:
        new = changed.get(tp)
        if new is not None:
            changed[tp] = cleared(new)
        elif tp in broker.image:
            broker.image[tp] = cleared(broker.image[tp])


def _apply_broker_record(broker: Process, record: tuple[object, ...]) -> None:
    """Apply RegisterBroker and BrokerRegistrationChange: (kind, id, epoch, fenced, leaving)."""
    _, peer_id, epoch, fenced, shutting_down = record
    assert isinstance(peer_id, int) and isinstance(epoch, int)
    broker.peers[peer_id] = Peer(epoch, bool(fenced), bool(shutting_down))


def _assigned(broker: Process, records: Sequence[tuple[Any, ...]]) -> dict[int, int]:
    """KIP-858.  Return partition -> the directory that its record names for this broker."""
    return {
        record[1]: record[3][1]
        for record in records
        if record[0] == R_PARTITION and len(record) > 3 and record[3][0] == broker.id
    }


def apply_changes(
    broker: Process,
    changed: dict[int, PartitionRecord | None],
    out: Effects,
    blocked: Collection[int] = (),
) -> None:
    """CP-KR-APPLY 1 - 5.  Apply client metadata first, then deletions, leaders, followers.

    In 3.7.0 a replica of a failed directory is made again, empty, in another one
    (`ReplicaManager.getOrCreatePartition`, KAFKA-16234).
    """
    mine = []
    for tp, record in changed.items():
        if record is None:
            broker.image.pop(tp, None)
            broker.metadata.pop(tp, None)
            if tp in broker.replicas:
                stop_replica(broker, tp, True, out)
            continue
        broker.image[tp] = record
        broker.metadata[tp] = (record.leader, record.leader_epoch)
        if broker.id in record.replicas:
            if tp in broker.offline and broker.profile.failed_dir_remade:
                broker.offline.discard(tp)
                del broker.machine.disks[tp]
            if tp not in broker.offline and tp not in blocked:
                mine.append((tp, record))
        elif tp in broker.replicas:
            stop_replica(broker, tp, True, out)
    for leading in (True, False):
        for tp, record in mine:
            if (record.leader == broker.id) == leading:
                apply_record(broker, tp, record, out)


# -- control requests of the ZooKeeper era --------------------------------------------------------


def on_leader_and_isr(broker: Process, m: LeaderAndIsr, out: Effects) -> None:
    """CP-LISR.  Apply a request unless it is stale: leaders first, then followers."""
    error = request_error(broker, m.controller_epoch, m.broker_epoch)
    if error:
        if error == STALE_CONTROLLER_EPOCH:
            own_epoch = broker.controller_epoch
            out.cue("CP-LISR.stale", broker.id, "controller epoch", m.controller_epoch, own_epoch)
        return
    _know_live(broker, m.live)
    verdicts = [(tp, record, state_error(broker, tp, record)) for tp, record, _ in m.states]
    accepted = [(tp, record) for tp, record, error in verdicts if error == NONE]
    for leading in (True, False):
        for tp, record in accepted:
            if (record.leader == broker.id) == leading:
                apply_record(broker, tp, record, out)
    failed = [(tp, error) for tp, _, error in verdicts if error == KAFKA_STORAGE_ERROR]
    if failed:
        out.send(LeaderAndIsrResponse(m, failed))


def on_update_metadata(broker: Process, m: UpdateMetadata, out: Effects) -> None:
    """5.1.  Update the metadata for clients, and the live brokers."""
    if request_error(broker, m.controller_epoch, m.broker_epoch):
        return
    _know_live(broker, m.live)
    for tp, record in m.states:
        if record.leader == DURING_DELETE:
            broker.metadata.pop(tp, None)
        else:
            _know_isr(broker, tp, record, out)
            broker.metadata[tp] = (record.leader, record.leader_epoch)


def _know_isr(broker: Process, tp: int, record: PartitionRecord, out: Effects) -> None:
    """CP-ISR-ZKPROP 3.  Update the ISR in the metadata for clients; the leader may know it."""
    if not broker.profile.isr_propagation:
        return
    before = broker.known_isr.get(tp, record.isr)
    broker.known_isr[tp] = record.isr
    same_term = broker.metadata.get(tp) == (record.leader, record.leader_epoch)
    if same_term and before != record.isr:
        out.cue("CP-ISR-ZKPROP.known", broker.id, f"isr {tp}", before, record.isr, tp=tp)


def on_stop_replica(broker: Process, m: StopReplica, out: Effects) -> None:
    """5.3.  Stop replicas if the request's epoch is not older than theirs.

    From 1.1 to 2.0 a deletion then looks for a future log, and takes one that it does not find for
    one on the failed directory (`LogManager.asyncDelete` at 2.0.1, KAFKA-7313).
    """
    if request_error(broker, m.controller_epoch, m.broker_epoch):
        return
    answers = []
    for tp, leader_epoch, delete in m.states:
        error = stop_error(broker, tp, leader_epoch, delete)
        if error == NONE:
            stop_replica(broker, tp, delete, out)
            if delete and broker.machine.broken and broker.profile.delete_fails_on_failed_disk:
                error = KAFKA_STORAGE_ERROR
        if leader_epoch == DURING_DELETE:
            answers.append((tp, error))
    if answers:
        out.send(StopReplicaResponse(m, answers))


def request_error(broker: Process, controller_epoch: int, broker_epoch: int) -> int:
    """CP-LISR, 1.12.  Return why a whole control request is refused, or NONE."""
    if broker.profile.broker_generation and broker_epoch < broker.broker_epoch:
        return STALE_BROKER_EPOCH
    if controller_epoch < broker.controller_epoch:
        return STALE_CONTROLLER_EPOCH
    broker.controller_epoch = controller_epoch
    return NONE


def state_error(broker: Process, tp: int, record: PartitionRecord) -> int:
    """CP-LISR.  Return the error of one LeaderAndIsr partition; its leader epoch must be new."""
    if tp in broker.offline:
        return KAFKA_STORAGE_ERROR
    replica = broker.replicas.get(tp)
    if record.leader_epoch <= (-1 if replica is None else replica.leader_epoch):
        return STALE_CONTROLLER_EPOCH
    return NONE if broker.id in record.replicas else UNKNOWN_TOPIC_OR_PARTITION


def stop_error(broker: Process, tp: int, leader_epoch: int, delete: bool = False) -> int:
    """5.3.  Return why one partition of a StopReplica is refused, or NONE.

    Leader epoch -2: the topic is being deleted, which raises no epoch; -1: an old version of the
    request, without epochs.  From 2.6 to 3.4.0 a deletion in the known epoch is ignored
    (`ReplicaManager.stopReplicas` at 3.4.0, KAFKA-13972).
    """
    if tp in broker.offline:
        return KAFKA_STORAGE_ERROR
    replica = broker.replicas.get(tp)
    if leader_epoch < 0 or replica is None:
        return NONE
    own_epoch = replica.leader_epoch
    if leader_epoch < own_epoch or (
        delete and leader_epoch == own_epoch and broker.profile.cancel_not_obeyed
    ):
        return FENCED_LEADER_EPOCH
    return NONE


def _know_live(broker: Process, live: dict[int, int]) -> None:
    for peer_id, epoch in live.items():
        broker.peers[peer_id] = Peer(epoch)
    for peer_id, peer in broker.peers.items():
        peer.alive = peer_id in live


def on_alter_timer(broker: Process, out: Effects) -> bool:
    """CP-ALTER.  Send the whole request again."""
    if broker.alter_corr or not broker.alter_queue:
        return False
    send_alter_partition(broker, out)
    return True


def blocked_by_strays(
    broker: Process, changed: dict[int, PartitionRecord | None]
) -> Collection[int]:
    """7.7, KRaft.  Return new partitions whose name a stray log has: they are not made.

    Until 3.6 strays are deleted only after the first image has been applied
    (`BrokerMetadataPublisher.finishInitializingReplicaManager` at 3.6.2, KAFKA-14616).
    """
    machine = broker.machine
    if not broker.profile.stray_blocks_replica or not machine.disks:
        return ()
    names = {machine.topics.get(tp, (TOPIC, tp)) for tp in machine.disks}
    new = [tp for tp in changed if tp not in machine.disks]
    return [tp for tp in new if machine.topics.get(tp, (TOPIC, tp)) in names]


def delete_strays(broker: Process, out: Effects) -> None:
    """7.7, KRaft 2.  Delete stray logs at the first image after a start.

    A stray is the log of a topic that is gone, or of a partition that has moved away meanwhile.
    """
    for tp in list(broker.machine.disks):
        record = broker.image.get(tp)
        if record is None or broker.id not in record.replicas:
            out.cue("CP-KR-APPLY.stray", broker.id, "stray", None, tp, tp=tp)
            del broker.machine.disks[tp]
            broker.machine.futures.pop(tp, None)
