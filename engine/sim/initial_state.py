"""Initial state of a cluster, also where that is not "all well, all empty"."""

from __future__ import annotations

from engine.clients.consumers import Consumer
from engine.controlplane import membership
from engine.controlplane.roles import new_disk
from engine.model.broker import Broker
from engine.model.configs import for_topic
from engine.model.controller import Topic
from engine.model.log import Batch
from engine.model.records import PartitionRecord
from engine.model.state import LEADER, Disk
from engine.scenarios.initial import Initial, LogState, PartitionState
from engine.sim.world import World

Shared = dict[tuple[int, int], Batch]
"""(offset, epoch) -> the batch: replicas that hold the same record hold the same object."""


def prepare(sim: World, initial: Initial) -> None:
    """Set up records, disks and the brokers that are down, before any broker learns its role."""
    k = sim.cluster.controller
    sim.cluster.names = tuple(state.name for state in initial.partitions)
    for tp, state in enumerate(initial.partitions):
        k.records[tp] = PartitionRecord(
            k.records[tp].replicas,
            state.isr,
            state.leader,
            state.leader_epoch,
            state.partition_epoch,
            elr=tuple(sorted(state.elr)),
            last_known_elr=tuple(sorted(state.last_known_elr)),
        )
        topic = k.topics.setdefault(state.name.rpartition("-")[0], Topic())
        topic.tps.append(tp)
        own = dict(state.configs)
        if "unclean.leader.election.enable" in own:
            topic.config.unclean = bool(own["unclean.leader.election.enable"])
        if state.min_isr:
            topic.config.min_insync_replicas = own["min.insync.replicas"] = state.min_isr
        for broker in sim.brokers.values() if own else ():
            broker.machine.topic_configs[tp] = for_topic(sim.profile, sim.configs, own)
        _fill_disks(sim, tp, state)
    for down in initial.offline:
        _take_down(sim, sim.brokers[down])


def _fill_disks(sim: World, tp: int, state: PartitionState) -> None:
    shared: Shared = {}
    logs = dict(state.logs)
    for broker_id in sim.cluster.controller.records[tp].replicas:
        machine = sim.brokers[broker_id].machine
        disk = machine.disks[tp] = new_disk(machine)
        if broker_id in logs:
            _fill(disk, logs[broker_id], f".{tp}" if tp else "", shared)


def _fill(disk: Disk, state: LogState, suffix: str, shared: Shared) -> None:
    """Fill a log with one record a batch: the real batches are unknown."""
    log = disk.log
    start = state.start
    log.log_start = log.leo = log.segments[0] = log.flushed = start
    ends = [*(offset for _, offset in state.epochs[1:]), state.end]
    for (epoch, first), end in zip(state.epochs, ends, strict=True):
        log.epochs.assign(epoch, first)
        for offset in range(first, end):
            batch = shared.get((offset, epoch))
            if batch is None:
                batch = shared[offset, epoch] = Batch(offset, epoch, (f"r{offset}{suffix}",))
            log.append(batch)
    log.flushed = state.recovery
    disk.hw_checkpoint = state.hw
    disk.recovery_checkpoint = state.recovery
    disk.log_start_checkpoint = start


def _take_down(sim: World, broker: Broker) -> None:
    k = sim.cluster.controller
    broker.process = None
    sim.network.running.discard(broker.id)
    if sim.profile.mode == "kraft":
        k.brokers[broker.id].fenced = True
    else:
        del k.brokers[broker.id]


def fill_metadata_log(sim: World) -> None:
    """Fill KRaft's log at the start of a run; a broker's epoch is its record's offset."""
    k = sim.cluster.controller
    if sim.profile.mode != "kraft":
        return
    for broker_id, registration in k.brokers.items():
        fenced = registration.fenced
        k.log.append((membership.R_REGISTER, broker_id, registration.epoch, fenced, False))
    for tp, record in k.records.items():
        k.log.append((membership.R_PARTITION, tp, record))
    k.committed = len(k.log)
    for registration in k.brokers.values():
        registration.metadata_offset = k.committed


def finish(sim: World, initial: Initial) -> None:
    """Derive state from the logs once all brokers know their roles, before the observer looks."""
    for broker in sim.brokers.values():
        for replica in broker.replicas.values():
            if replica.role == LEADER:
                begun = replica.log.epochs.start_of(replica.leader_epoch)
                replica.epoch_start = begun if begun >= 0 else replica.log.leo
    for tp, state in enumerate(initial.partitions):
        marks = [log.hw for _, log in state.logs]
        sim.checker.reached[tp] = max(marks, default=0)
    for client in sim.clients.values():
        if isinstance(client, Consumer):
            logs = initial.partitions[client.tp].logs
            client.position = min((log.start for _, log in logs), default=0)
