"""Requests of Kafka's Admin client that no move makes: placed topics, configurations, lists."""

from __future__ import annotations

from collections.abc import Iterable

from engine.controlplane import admin, kraft
from engine.controlplane.placement import PlacementChance, StripedPlacer
from engine.model import errors
from engine.model.controller import Controller
from engine.model.effects import Effects

DEFAULT = -1
DEFAULT_PARTITIONS = 1  # num.partitions
DEFAULT_FACTOR = 3  # default.replication.factor, as tools set it


def create(
    k: Controller,
    name: str,
    partitions: int,
    factor: int,
    chance: PlacementChance,
    out: Effects,
    default_factor: int = DEFAULT_FACTOR,
) -> int:
    """CP-PLACE-KR.  Create a topic and return an error code; -1 means the default."""
    if name in k.topics:
        return errors.TOPIC_ALREADY_EXISTS
    if factor < DEFAULT or factor == 0:
        return errors.INVALID_REPLICATION_FACTOR
    count = DEFAULT_PARTITIONS if partitions == DEFAULT else partitions
    copies = default_factor if factor == DEFAULT else factor
    error, lists = StripedPlacer(admin.candidates(k), chance).place(count, copies)
    return error or _placed(admin.create_manually(k, name, lists, out))


def grow(k: Controller, name: str, count: int, chance: PlacementChance, out: Effects) -> int:
    """2.  Grow a topic to `count` partitions with the replication factor of its first one."""
    topic = k.topics.get(name)
    if topic is None:
        return errors.UNKNOWN_TOPIC_OR_PARTITION
    more = count - len(topic.tps)
    if more <= 0:
        return errors.INVALID_PARTITIONS
    factor = len(k.records[topic.tps[0]].replicas)
    error, lists = StripedPlacer(admin.candidates(k), chance).place(more, factor)
    return error or _placed(admin.create_partitions(k, name, count, lists, out))


def _placed(error: int) -> int:
    """Name the error of a placement, where a listed one has another."""
    refused = error == errors.INVALID_REPLICA_ASSIGNMENT
    return errors.INVALID_REPLICATION_FACTOR if refused else error


def configure(
    k: Controller,
    name: str,
    out: Effects,
    *,
    min_isr: int | None = None,
    unclean: bool | None = None,
) -> None:
    """CP-ELR 6.4.  Set a topic's configuration; a changed min.insync.replicas clears its ELRs.

    The value that the topic has already is no change.
    """
    topic = k.topics[name]
    if unclean is not None:
        topic.config.unclean = unclean
    if min_isr is None or min_isr == topic.config.min_insync_replicas:
        return
    topic.config.min_insync_replicas = min_isr
    if k.configs.elr:
        kraft.append(k, [kraft.clear_elr(k, topic.tps, out)], out)


def number(k: Controller, name: str, index: int) -> int:
    """Return the number under which a topic's partition is known, or -1."""
    topic = k.topics.get(name)
    return topic.tps[index] if topic is not None and 0 <= index < len(topic.tps) else -1


def elect_all(k: Controller, unclean: bool, out: Effects) -> dict[int, int]:
    """Run ElectLeaders for every partition; return the error codes of those in need of one."""
    results = {tp: admin.elect_leader(k, tp, unclean, out) for tp in k.records}
    return {tp: error for tp, error in results.items() if error != errors.ELECTION_NOT_NEEDED}


def reassigning(k: Controller, tps: Iterable[int] | None = None) -> list[int]:
    """Return ListPartitionReassignments: the partitions that are being moved."""
    asked = k.records if tps is None else tps
    return [tp for tp in asked if tp in k.records and k.records[tp].reassigning]
