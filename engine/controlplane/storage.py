"""A log directory fails: what the broker does, and what the controllers make of it (8.4)."""

from __future__ import annotations

from typing import Any

from engine.controlplane import election, kraft, membership, znodes
from engine.controlplane.roles import mark_offline
from engine.dataplane import futures
from engine.dataplane.directories import survives_a_failed_directory, working
from engine.model.broker import Process
from engine.model.configs import NEVER
from engine.model.control_messages import (
    AssignReplicasToDirs,
    AssignReplicasToDirsResponse,
    Heartbeat,
    LeaderAndIsrResponse,
    LogDirEvent,
)
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.model.errors import KAFKA_STORAGE_ERROR, NONE, STALE_BROKER_EPOCH
from engine.model.messages import CONTROLLER
from engine.model.timers import DIR_FAILURE

# -- the broker ------------------------------------------------------------------------------------


def fail_directory(broker: Process, directory: int, out: Effects) -> None:
    """L-16, 8.4.  Take a directory's replicas offline and inform the controller.

    Without another directory, or in a release that cannot do without one, the process halts.
    """
    if not working(broker.machine) or not survives_a_failed_directory(broker.machine):
        out.cue("L-16.halt", broker.id, "halted", None, directory)
        broker.halted = True
        return
    for tp, disk in broker.machine.disks.items():
        if disk.dir == directory:
            mark_offline(broker, tp, out)
    futures.drop(broker, directory, out)
    tell_controller(broker, out)


def tell_controller(broker: Process, out: Effects) -> None:
    """8.4, 2 and 3.  Report failed directories by the event znode, or by a heartbeat at once.

    KRaft (3.8): a broker that cannot reach the controller within log.dir.failure.timeout.ms shuts
    down.
    """
    if broker.profile.mode == "zk":
        out.send(LogDirEvent(broker.id, CONTROLLER, broker.next_corr()))
        return
    wait = broker.configs.dir_failure_timeout_ms
    if not broker.profile.dir_failure_gives_up:
        wait = NEVER  # KAFKA-15649
    if not broker.dir_report:
        broker.dir_report = 1  # the heartbeat puts its own number there
        broker.dir_due = out.now + wait
    if broker.broker_epoch >= 0:  # else the first heartbeat after the registration reports it
        membership.send_heartbeat(broker, out)
    if wait < NEVER:
        out.timer(broker.id, wait, DIR_FAILURE)


def on_dir_failure_timer(broker: Process, out: Effects) -> bool:
    """8.4, 3.  Halt if the controller has not been reached since the directory failed."""
    if not broker.dir_report or out.now < broker.dir_due:
        return False
    out.cue("L-16.unheard", broker.id, "halted", None, None)
    broker.halted = True
    return True


# -- the ZooKeeper era -----------------------------------------------------------------------------


def on_log_dir_event(k: Controller, m: LogDirEvent, out: Effects) -> None:
    """8.4, 2.  Send LeaderAndIsr for all of the broker's replicas to find the lost ones."""
    if m.src not in k.brokers:
        return
    out.cue("CP-8.4.event", CONTROLLER, "broker", None, None, about=m.src)
    states = [(tp, r, False) for tp, r in k.records.items() if m.src in r.replicas]
    if states:
        znodes.send_leader_and_isr(k, m.src, states, out)


def on_leader_and_isr_response(k: Controller, m: LeaderAndIsrResponse, out: Effects) -> None:
    """8.4, 2.  Elect as for a dead broker, but only partitions it cannot serve."""
    offline = [
        tp
        for tp, error in m.answers
        if error == KAFKA_STORAGE_ERROR and tp in k.records and (m.src, tp) not in k.offline
    ]
    if not offline or m.src not in k.brokers:
        return
    k.offline.update((m.src, tp) for tp in offline)
    out.cue("CP-8.4.offline", CONTROLLER, "broker", None, tuple(offline), about=m.src)
    znodes.replicas_died(k, m.src, offline, out)


# -- KRaft -----------------------------------------------------------------------------------------


def on_heartbeat(k: Controller, m: Heartbeat, out: Effects) -> None:
    """CP-KR-HB, 8.4, 3.  Handle the failed directories of a heartbeat, then the heartbeat."""
    registration = k.brokers.get(m.src)
    if registration is not None and registration.epoch == m.broker_epoch:
        new = [directory for directory in m.offline_dirs if directory not in registration.lost_dirs]
        if new:
            registration.lost_dirs = m.offline_dirs
            _lose_directories(k, m.src, new, out)
    kraft.on_heartbeat(k, m, out)


def _lose_directories(k: Controller, broker: int, lost: list[int], out: Effects) -> None:
    """8.4, 3.  Take replicas in these directories out of the ISRs, elect where they led."""
    offline = [
        tp
        for tp in k.records
        if k.directories.get((broker, tp)) in lost and (broker, tp) not in k.offline
    ]
    k.offline.update((broker, tp) for tp in offline)
    out.cue("CP-8.4.offline", CONTROLLER, "broker", None, tuple(offline), about=broker)
    records: list[tuple[Any, ...]] = [kraft.registration_change(k, broker)]
    for tp in offline:
        isr = k.records[tp].isr
        if broker in isr:
            left = tuple(b for b in isr if b != broker)
            records += kraft.change(k, tp, out, election.Target(isr=left))[1]
    kraft.append(k, records, out)


def on_assign_replicas(k: Controller, m: AssignReplicasToDirs, out: Effects) -> None:
    """KIP-858, 1.12.  Note a replica's directory in the partition's record."""
    registration = k.brokers.get(m.src)
    if registration is None or registration.epoch != m.broker_epoch:
        error = STALE_BROKER_EPOCH
        out.send(AssignReplicasToDirsResponse(CONTROLLER, m.src, m.corr, error, ()))
        return
    records = []
    for tp, directory in m.items:
        record = k.records.get(tp)
        if record is None or m.src not in record.replicas:
            continue
        k.directories[m.src, tp] = directory
        if directory not in registration.lost_dirs:
            k.offline.discard((m.src, tp))
        after = record.copy()
        after.partition_epoch += 1
        k.records[tp] = after
        records.append((membership.R_PARTITION, tp, after, (m.src, directory)))
        out.cue("CP-8.4.assign", CONTROLLER, "broker", tp, directory, tp=tp, about=m.src)
    kraft.append(k, records, out)
    answer = AssignReplicasToDirsResponse(CONTROLLER, m.src, m.corr, NONE, m.items)
    kraft.answer_when_committed(k, answer, out)
