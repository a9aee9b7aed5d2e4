"""Moves worth offering in a state: what the menu shows and the typed line completes."""

from __future__ import annotations

from collections.abc import Iterator

from engine.dataplane import directories
from engine.model.records import PartitionRecord
from engine.sim.simulation import Simulation


def suggestions(sim: Simulation) -> Iterator[str]:
    """One of each kind for each broker and link; `possible` says which can be done."""
    names = [spec.label for spec in sim.scenario.brokers]
    yield from _clients(sim)
    yield from ("settle", "+1", "advance 500ms", "advance 5s")
    for name in names:
        if not sim.auto:
            yield f"fetch {name}"
            yield f"ask {name}"
    for m in sim.network.under_way()[:12]:
        if m.src >= -1 and m.dst >= -1:
            yield f"deliver {_node_label(sim, m.src)}->{_node_label(sim, m.dst)}"
            yield f"drop {_node_label(sim, m.src)}->{_node_label(sim, m.dst)}"
    yield from _faults(names)
    yield from _disks(sim)
    yield from ("kill K", "restart K")
    for name in names:
        yield f"tick {name}"
        yield f"flush {name}"
    record = sim.cluster.controller.records.get(0)
    if record is not None:
        yield from _first_partition(sim, record)
    yield from _topics(sim)
    yield "checkpoint"


def _clients(sim: Simulation) -> Iterator[str]:
    fresh = sim.ledger.sent
    records = sim.cluster.controller.records
    others = [tp for tp in records if tp > 0][-1:]
    for tp in (tp for tp in (0, *others) if tp in records):
        where = f" p={sim.cluster.names[tp]}" if tp else ""
        for acks in ("all", "1"):
            yield f"produce x{fresh}{where} acks={acks}"
    yield "read"


def _faults(names: list[str]) -> Iterator[str]:
    for name in names:
        for verb in ("kill", "restart", "power", "pause", "resume", "shutdown", "detect"):
            yield f"{verb} {name}"
    for name in names:
        yield f"cut {name} K"
        yield f"heal {name} K"
    for i, one in enumerate(names[:6]):
        for other in names[i + 1 : 6]:
            yield f"cut {one} {other}"
            yield f"heal {one} {other}"


def _disks(sim: Simulation) -> Iterator[str]:
    """For brokers with several log directories only: else it is the whole broker that fails."""
    for broker in sim.brokers.values():
        if broker.dirs > 1 and not sim.auto:
            yield f"copy {broker.name}"
        for one in range(1, broker.dirs + 1) if broker.dirs > 1 else ():
            name = directories.name(one)
            yield f"disk_fail {broker.name} {name}"
            if 0 in broker.disks and broker.disks[0].dir != one:
                yield f"move_dir {broker.name} {name}"
            if one in broker.broken:
                yield f"wipe {broker.name} {name}"


def _first_partition(sim: Simulation, record: PartitionRecord) -> Iterator[str]:
    yield from ("elect preferred", "elect unclean")
    for broker in record.replicas:
        yield f"elect {sim.scenario.broker_name(broker)}"
    leader = sim.brokers.get(record.leader)
    replica = None if leader is None else leader.replicas.get(0)
    if replica is not None:
        yield f"delete records {replica.log.hw}"
    others = [spec.id for spec in sim.scenario.brokers if spec.id not in record.replicas]
    if record.reassigning:
        yield "reassign cancel"
    elif others:
        moved = (*record.replicas[1:], others[0])
        yield "reassign " + " ".join(map(sim.scenario.broker_name, moved))


def _topics(sim: Simulation) -> Iterator[str]:
    """A topic that does not exist yet, and what can become of those that do."""
    topics = sim.cluster.controller.topics
    fresh = next(name for name in _topic_names() if name not in topics)
    yield f"create_topic {fresh} partitions=2 factor={min(2, len(sim.brokers))}"
    for name in list(topics)[-3:]:
        yield f"add_partitions {name} count=1"
        yield f"delete_topic {name}"


def _topic_names() -> Iterator[str]:
    yield "orders"
    number = 2
    while True:
        yield f"orders{number}"
        number += 1


def _node_label(sim: Simulation, node: int) -> str:
    return "K" if node == -1 else sim.scenario.broker_name(node)
