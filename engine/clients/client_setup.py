"""Clients of a run: P1 and C1 always, others as the workload or a move needs them."""

from __future__ import annotations

from typing import Final

from engine.clients.clients import Producer
from engine.clients.consumers import RESETS, Consumer
from engine.clients.group_member import GroupMember
from engine.clients.idempotent import IdempotentProducer
from engine.clients.producer_schedule import pace_of
from engine.clients.reconciling_member import ReconcilingMember
from engine.model.messages import FIRST_CONSUMER, FIRST_PRODUCER
from engine.scenarios import parts
from engine.sim.kernel import Chance
from engine.sim.world import World

BEATS: Final = "heartbeat.interval.ms"


def add_clients(sim: World) -> None:
    """Add clients, for scripts and hands, or driven by a workload."""
    workload = sim.scenario.workload
    for number, load in enumerate(workload.producers or (None,), 1):
        numbered = load is not None and load.idempotent
        producer = add_producer(sim, number, numbered)
        if load is not None:
            producer.interval = max(1, round(1000 * load.batch / load.rate_per_s))
            producer.pace = pace_of(load)
            producer.acks = load.acks
            producer.timeout = load.timeout_ms
            producer.retries = load.retries
            producer.partition = load.partition
    readers = list(workload.consumers) or [parts.ConsumerSpec()]
    most = max((max(group.members) for group in sim.scenario.groups), default=0)
    readers += [parts.ConsumerSpec()] * (most - len(readers))
    for number, reader in enumerate(readers, 1):
        _add_consumer(sim, number, reader)


def _leaders(sim: World) -> dict[int, int]:
    """Return the leaders that clients believe in when the run begins."""
    return {tp: record.leader for tp, record in sim.cluster.controller.records.items()}


def add_producer(sim: World, number: int, idempotent: bool) -> Producer:
    """Add producer `number`, named P1, P2, ..."""
    node = FIRST_PRODUCER + 1 - number
    chance = Chance(sim.seed, f"producer {number - 1}")
    kind = IdempotentProducer if idempotent else Producer
    ids = tuple(sim.brokers)
    producer = kind(node, ids, _leaders(sim), chance, len(sim.scenario.partitions))
    producer.backoff_ms = sim.configs.retry_backoff_ms
    producer.delivery_ms = sim.configs.delivery_timeout_ms
    producer.timeout = sim.configs.request_timeout_ms
    sim.clients[node] = producer
    return producer


def idempotent_producer(sim: World) -> Producer:
    """Return the first idempotent producer; a new one if the workload has none."""
    producers = [client for client in sim.clients.values() if isinstance(client, Producer)]
    for producer in producers:
        if isinstance(producer, IdempotentProducer):
            return producer
    return add_producer(sim, len(producers) + 1, True)


def _member(sim: World, number: int) -> GroupMember | None:
    """G-1.  Return a consumer that is a member of a group, with its number; None for any other."""
    scenario = sim.scenario
    topic = tuple(range(len(scenario.partitions)))
    for index, group in enumerate(scenario.groups):
        if number in group.members:
            node, brokers = FIRST_CONSUMER + 1 - number, tuple(sim.brokers)
            kind = ReconcilingMember if group.reconciling else GroupMember
            member = kind(node, brokers, _leaders(sim), len(topic) + index, topic)
            member.commits_first = group.commit == "before"
            if group.commit == "auto":
                member.auto_ms = int(sim.configs.values["auto.commit.interval.ms"])
            member.instance = dict(group.instances).get(number, "")
            member.cooperative = group.cooperative or group.reconciling
            member.reads_on = sim.profile.polls_while_joining or not group.cooperative
            beats = "group.consumer.heartbeat.interval.ms" if group.reconciling else BEATS
            member.beats_every_ms = int(sim.configs.values[beats])
            member.max_poll_ms = int(sim.configs.values["max.poll.interval.ms"])
            return member
    return None


def _add_consumer(sim: World, number: int, reader: parts.ConsumerSpec) -> None:
    node = FIRST_CONSUMER + 1 - number
    consumer = _member(sim, number) or Consumer(node, tuple(sim.brokers), _leaders(sim))
    consumer.wait_ms = sim.configs.consumer_wait_ms
    consumer.backoff_ms = sim.configs.retry_backoff_ms
    consumer.max_age_ms = sim.configs.metadata_max_age_ms
    records = sim.cluster.controller.records
    consumer.leader_epochs = {tp: record.leader_epoch for tp, record in records.items()}
    if sim.configs.values["fetch_sessions"] and sim.profile.fetch_sessions:
        consumer.sessions = {}
    consumer.reset = RESETS[reader.reset]
    consumer.validates = reader.epochs and sim.profile.consumer_epochs
    consumer.rack = reader.rack if sim.profile.follower_reads else None
    sim.clients[node] = consumer
