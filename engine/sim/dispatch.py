"""Table of the handlers of messages and timers; the handlers make the decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from engine.controlplane import kraft, membership, sender, storage, zk_topics, zookeeper
from engine.dataplane import (
    directories,
    fetcher,
    futures,
    insync,
    isr_propagation,
    produce,
    purgatory,
    retention,
    serving,
    slow_disk,
    tiering,
    watermark,
)
from engine.groups import coordinator
from engine.model import messages, timers
from engine.model.broker import Process
from engine.model.client_messages import ClientMetadata, ClientMetadataResponse
from engine.model.control_messages import AssignReplicasToDirsResponse
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.model.messages import Broken
from engine.model.state import STARTING
from engine.sim.live_effects import Wires

BrokerHandler = Callable[[Process, Any, Effects], None]
ControllerHandler = Callable[[Controller, Any, Effects], None]
BrokerTimer = Callable[[Process, Any, Effects], bool]
ControllerTimer = Callable[[Controller, Any, Effects], bool]


def on_client_metadata(broker: Process, m: ClientMetadata, out: Effects) -> None:
    """5.8.  Answer from the broker's metadata cache, even if it is stale."""
    leader, epoch = broker.metadata.get(m.tp, (-1, -1))
    out.send(ClientMetadataResponse(broker.id, m.src, m.corr, m.tp, leader, epoch))


def on_assignment_answer(broker: Process, m: AssignReplicasToDirsResponse, out: Effects) -> None:
    futures.on_accepted(broker, directories.on_assignment_answer(broker, m, out), out)


def on_broken(broker: Process, m: Broken, out: Effects) -> None:
    """Handle the broken connection of one of this broker's requests."""
    kind = m.request_kind
    if kind == messages.ALTER_PARTITION:
        insync.on_alter_partition_broken(broker, m.corr, out)
    elif kind == messages.METADATA_FETCH:
        membership.on_metadata_broken(broker, m.corr, out)
    elif kind == messages.REGISTER:
        if m.corr == broker.registered_corr and broker.status == STARTING:
            membership.retry_registration(broker, out)
    elif kind == messages.ASSIGN_DIRS:
        directories.on_assignment_broken(broker, m.corr, out)
    elif kind == messages.SHUTDOWN:
        if broker.shutting_down:
            out.timer(broker.id, broker.configs.shutdown_backoff_ms, timers.SHUTDOWN_RETRY)
    else:
        fetcher.on_request_broken(broker, m.src, m.corr, out)


ON_BROKER: dict[int, BrokerHandler] = {
    messages.FETCH: serving.on_fetch_request,
    messages.FETCH_R: fetcher.on_fetch_response,
    messages.EPOCH_END: serving.on_epoch_end_request,
    messages.EPOCH_END_R: fetcher.on_epoch_end_response,
    messages.LIST_OFFSETS: serving.on_list_offsets_request,
    messages.LIST_OFFSETS_R: fetcher.on_list_offsets_response,
    messages.PRODUCE: produce.on_produce_request,
    messages.ALTER_PARTITION_R: insync.on_alter_partition_response,
    messages.HEARTBEAT_R: membership.on_heartbeat_response,
    messages.REGISTER_R: membership.on_register_response,
    messages.METADATA_FETCH_R: membership.on_metadata_records,
    messages.LEADER_AND_ISR: membership.on_leader_and_isr,
    messages.UPDATE_METADATA: membership.on_update_metadata,
    messages.STOP_REPLICA: membership.on_stop_replica,
    messages.SHUTDOWN_R: membership.on_shutdown_response,
    messages.ASSIGN_DIRS_R: on_assignment_answer,
    messages.CLIENT_METADATA: on_client_metadata,
    messages.BROKEN: on_broken,
    **coordinator.HANDLERS,
}

ON_SLOW_DISKS: dict[int, BrokerHandler] = {
    messages.FETCH: slow_disk.on_fetch_request,
    messages.FETCH_R: slow_disk.on_fetch_response,
    messages.PRODUCE: slow_disk.on_produce_request,
}
"""These take their place where some broker's disk is slow."""

ON_KRAFT: dict[int, ControllerHandler] = {
    messages.ALTER_PARTITION: kraft.on_alter_partition,
    messages.HEARTBEAT: storage.on_heartbeat,
    messages.ASSIGN_DIRS: storage.on_assign_replicas,
    messages.REGISTER: kraft.on_register,
    messages.METADATA_FETCH: kraft.on_metadata_fetch,
}

ON_ZOOKEEPER: dict[int, ControllerHandler] = {
    messages.ALTER_PARTITION: zookeeper.on_alter_partition,
    messages.HEARTBEAT: zookeeper.on_ping,
    messages.REGISTER: zookeeper.on_register,
    messages.SHUTDOWN: zookeeper.on_shutdown_request,
    messages.STOP_REPLICA_R: zk_topics.on_stop_replica_response,
    messages.LEADER_AND_ISR_R: storage.on_leader_and_isr_response,
    messages.LOG_DIR_EVENT: storage.on_log_dir_event,
    messages.SESSION_CLOSED: zookeeper.on_session_closed,
    messages.ISR_CHANGE: zookeeper.on_isr_change,
}


KEEPING_FETCHES: Final = frozenset(
    (
        messages.FETCH,
        messages.FETCH_R,
        messages.EPOCH_END,
        messages.LIST_OFFSETS,
        messages.PRODUCE,
        messages.CLIENT_METADATA,
        messages.HEARTBEAT_R,
        *coordinator.HANDLERS,
    )
)
"""Deliveries that change no partition, or only such as their handlers unsettle: after any other a
broker visits every partition at the next fetch (`Process.forget_fetches`)."""

TIMERS_KEEPING_FETCHES: Final = frozenset(
    (
        timers.FETCHER_WORK,
        timers.PURGATORY,
        timers.ISR_EXPIRATION,
        timers.ISR_PROPAGATION,
        timers.HW_CHECKPOINT,
        timers.LOG_FLUSHER,
        timers.LOG_START_CHECKPOINT,
        timers.HEARTBEAT,
        timers.ALTER_RETRY,
        timers.DISK_WRITE,
        timers.GROUP_CHECK,
    )
)
"""The same of timers."""


Owner = TypeVar("Owner")


def _without_data(
    on_timer: Callable[[Owner, Effects], bool],
) -> Callable[[Owner, Any, Effects], bool]:
    def handler(owner: Owner, data: Any, out: Effects) -> bool:
        return on_timer(owner, out)

    return handler


def _isr_expiration(broker: Process, data: Any, out: Effects) -> bool:
    """CP-ISR-SHRINK.  Check every partition that this broker leads, and set the next timer.

    It also sets the retention timer, as records may reach `retention.ms` before the next check.
    """
    out.timer(broker.id, broker.configs.isr_check_ms, timers.ISR_EXPIRATION)
    retention.arm(broker, out)
    for replica in broker.replicas.values():
        insync.maybe_shrink_isr(broker, replica, out)
    return True


def _hw_checkpoint(broker: Process, data: Any, out: Effects) -> bool:
    out.timer(broker.id, broker.configs.hw_checkpoint_ms, timers.HW_CHECKPOINT)
    watermark.checkpoint(broker, out)
    return True


def _log_flusher(broker: Process, data: Any, out: Effects) -> bool:
    """L-10.  Flush the records written since the last flush (flush.ms)."""
    out.timer(broker.id, broker.configs.flush_ms, timers.LOG_FLUSHER)
    for replica in broker.replicas.values():
        log = replica.log
        if log.flushed < log.leo:
            out.cue("L-10", broker.id, "flushed", log.flushed, log.leo, tp=replica.tp)
            log.flush(log.leo)
    return True


def _register(broker: Process, attempt: Any, out: Effects) -> bool:
    if broker.status != STARTING or broker.registered_corr or broker.broker_epoch >= 0:
        return False
    membership.register(broker, attempt, out)
    return True


def _metadata(broker: Process, data: Any, out: Effects) -> bool:
    if broker.metadata_corr:
        return False
    membership.fetch_metadata(broker, out)
    return True


def _shutdown(broker: Process, data: Any, out: Effects) -> bool:
    if not broker.shutting_down:
        return False
    membership.request_shutdown(broker, out)
    return True


def _request_timeout(broker: Process, corr: Any, out: Effects) -> bool:
    assert isinstance(out, Wires)
    return out.give_up(broker.id, corr)


BROKER_TIMERS: dict[int, BrokerTimer] = {
    timers.FETCHER_WORK: fetcher.on_fetcher_timer,
    timers.PURGATORY: purgatory.on_purgatory_timer,
    timers.ISR_EXPIRATION: _isr_expiration,
    timers.HW_CHECKPOINT: _hw_checkpoint,
    timers.LOG_FLUSHER: _log_flusher,
    timers.HEARTBEAT: _without_data(membership.on_heartbeat_timer),
    timers.ALTER_RETRY: _without_data(membership.on_alter_timer),
    timers.REGISTER: _register,
    timers.METADATA_RETRY: _metadata,
    timers.SHUTDOWN_RETRY: _shutdown,
    timers.ISR_PROPAGATION: _without_data(isr_propagation.on_tick),
    timers.ASSIGN_RETRY: _without_data(directories.send_assignments),
    timers.DIR_MOVE: _without_data(futures.on_timer),
    timers.DIR_FAILURE: _without_data(storage.on_dir_failure_timer),
    timers.DISK_WRITE: slow_disk.on_written,
    timers.RETENTION: retention.on_check,
    timers.LOG_START_CHECKPOINT: retention.write_log_starts,
    timers.GROUP_CHECK: coordinator.on_check,
    timers.REMOTE_LOG: tiering.on_task,
    timers.REMOTE_COPY: tiering.on_copied,
    timers.REMOTE_INDEX: fetcher.on_remote_index,
    timers.REQUEST_TIMEOUT: _request_timeout,
}


KRAFT_TIMERS: dict[int, ControllerTimer] = {
    timers.FENCE_CHECK: _without_data(kraft.on_fence_check),
    timers.COMMIT: kraft.on_commit,
    timers.PREFERRED_CHECK: _without_data(kraft.on_preferred_check),
    timers.UNCLEAN_CHECK: _without_data(kraft.on_unclean_check),
    timers.IDLE_RECORD: _without_data(kraft.on_idle_record),
    timers.METADATA_WAIT: kraft.on_metadata_wait,
}


ZOOKEEPER_TIMERS: dict[int, ControllerTimer] = {
    timers.CONTROL_RETRY: sender.repeat,
    timers.FENCE_CHECK: _without_data(zookeeper.on_session_check),
    timers.PREFERRED_CHECK: _without_data(zookeeper.on_preferred_check),
}
