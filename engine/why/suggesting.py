"""Moves worth offering in a state: what the menu shows and the typed line completes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from engine.clients.clients import Producer
from engine.clients.group_member import GroupMember
from engine.dataplane import directories
from engine.model.groups import OFFSETS_TOPIC
from engine.model.messages import CONTROLLER, FIRST_CONSUMER
from engine.model.records import PartitionRecord
from engine.model.state import LEADER
from engine.moves import moves
from engine.moves.group_verbs import MEMBER_VERBS
from engine.sim.simulation import Simulation
from engine.view.stage_overlays import ways
from engine.view.view import node_name

_FAULTS: Final = (
    *("kill", "restart", "power", "pause", "resume", "shutdown"),
    *("bounce", "wipe", "detect"),
)


_OF_CONTROLLER: Final = ("elect", "reassign")
_OF_LOG: Final = ("checkpoint", "flush")


class PossibleMove(TypedDict):
    """A suggested move.

    `about`: what it acts on, as the stage names its things (b1, log:1, link:2:1, K, P1).  `why`:
    the reason why it is not enabled, or "".
    """

    text: str
    about: list[str]
    group: str
    help: str
    enabled: bool
    why: str


def possible(sim: Simulation) -> list[PossibleMove]:
    possible_moves: list[PossibleMove] = []
    for line in suggestions(sim):
        move = moves.parse(line, sim.scenario.brokers)
        reason = moves.why_not(sim, move)
        possible_moves.append(
            {
                "text": line,
                "about": about(sim, move),
                "group": move.verb.group,
                "help": move.verb.help,
                "enabled": not reason,
                "why": reason,
            }
        )
    return possible_moves


def about(sim: Simulation, move: moves.Move) -> list[str]:
    """Return the things of the stage that a move acts on, by their names there."""
    args, name = move.args, move.verb.name
    broker, to, client = args.get("broker"), args.get("to"), args.get("client")
    ends = [args[key] for key in ("a", "b", "src", "dst") if args.get(key) is not None]
    if "metadata" in args or "alter" in args:
        ends = [broker, CONTROLLER]
    nodes = [broker, to, client, *(args.get("target") or ()), *(end for end in ends if end >= 0)]
    if name in _OF_CONTROLLER or CONTROLLER in (args.get("a"), args.get("b")):
        nodes.append(CONTROLLER)
    if name == "produce":
        nodes += [node for node, machine in sim.clients.items() if isinstance(machine, Producer)]
    things = [_thing(node) for node in nodes if node is not None]
    if len(ends) == 2:
        things.append(f"link:{node_name(max(ends))}:{node_name(min(ends))}")
    if name == "delete":
        things += [f"log:{node}" for node in sim.brokers]
    elif to is not None or (broker is not None and name in _OF_LOG):
        things.append(f"log:{broker if to is None else to}")
    return list(dict.fromkeys(things))


def _thing(node: int) -> str:
    return f"b{node}" if node >= 0 else str(node_name(node))


def suggestions(sim: Simulation) -> Iterator[str]:
    """Yield one of each kind for each broker and link; `possible` says which can be done."""
    names = [spec.label for spec in sim.scenario.brokers]
    yield from _clients(sim)
    yield from ("settle", "+1", "advance 500ms", "advance 5s")
    for name in names:
        if not sim.auto:
            yield f"fetch {name}"
            yield f"ask {name}"
    for way in ways(sim):
        ends, _, kind = way.partition(" ")
        yield from (f"deliver {way}", f"drop {way}", f"hold {way}", f"release {way}")
        yield from (f"delay {ends} 500ms {kind}".rstrip(), f"duplicate {way}")
    yield from _faults(names)
    if sim.cluster.store is not None:
        yield "store down"
        yield "store up"
        yield "store slow 2s"
    yield from _disks(sim)
    yield from ("kill K", "restart K", "pause K", "resume K")
    for name in names:
        yield from (f"hold md {name}", f"release md {name}")
        yield from (f"hold alter {name}", f"release alter {name}")
        yield f"tick {name}"
        yield from (f"flush {name}", f"checkpoint {name}")
    record = sim.cluster.controller.records.get(0)
    if record is not None:
        yield from _first_partition(sim, record)
    yield from _topics(sim)
    yield "checkpoint"


def _clients(sim: Simulation) -> Iterator[str]:
    fresh = sim.ledger.sent
    records = sim.cluster.controller.records
    internal = len(sim.scenario.partitions)
    groups = range(internal, internal + len(sim.scenario.groups))
    others = [tp for tp in records if tp > 0 and tp not in groups][-1:]
    for tp in (tp for tp in (0, *others) if tp in records):
        where = f" p={sim.cluster.names[tp]}" if tp else ""
        for acks in ("all", "1"):
            yield f"produce x{fresh}{where} acks={acks}"
    for broker in sim.brokers.values():
        if any(replica.role == LEADER for replica in broker.replicas.values()):
            yield f"produce x{fresh} to {sim.scenario.broker_name(broker.id)}"
    yield f"produce x{fresh} idempotence=on"
    yield "read"
    yield "seek latest"
    for client in sim.clients.values():
        if isinstance(client, GroupMember):
            name = node_name(client.id)
            if client.id != FIRST_CONSUMER:
                yield f"read {name}"
            yield from (f"{verb} {name}" for verb in MEMBER_VERBS)


def _faults(names: list[str]) -> Iterator[str]:
    for name in names:
        for verb in _FAULTS:
            yield f"{verb} {name}"
    for name in names:
        yield f"slow_disk {name} 2"
        yield f"cut {name} K"
        yield f"heal {name} K"
    for i, node in enumerate(names[:6]):
        for other in names[i + 1 : 6]:
            yield f"cut {node} {other}"
            yield f"heal {node} {other}"
            yield f"slow {node} {other} 200"
            yield f"lose {node} {other} 10%"
    yield "heal"


def _disks(sim: Simulation) -> Iterator[str]:
    """Yield moves of directories, for brokers with several only: one is the whole broker."""
    for broker in sim.brokers.values():
        if broker.machine.dirs > 1 and not sim.auto:
            yield f"copy {broker.name}"
        for directory in range(1, broker.machine.dirs + 1) if broker.machine.dirs > 1 else ():
            name = directories.name(directory)
            yield f"disk_fail {broker.name} {name}"
            if 0 in broker.machine.disks and broker.machine.disks[0].dir != directory:
                yield f"move_dir {broker.name} {name}"
            if directory in broker.machine.broken:
                yield f"wipe {broker.name} {name}"


def _first_partition(sim: Simulation, record: PartitionRecord) -> Iterator[str]:
    yield from ("elect preferred", "elect unclean")
    for broker in record.replicas:
        yield f"elect {sim.scenario.broker_name(broker)}"
    leader = sim.brokers.get(record.leader)
    replica = None if leader is None else leader.replicas.get(0)
    if replica is not None:
        yield f"delete records {max(replica.log.hw, 0)}"
    others = [spec.id for spec in sim.scenario.brokers if spec.id not in record.replicas]
    if record.reassigning:
        yield "reassign cancel"
    elif others:
        moved = (*record.replicas[1:], others[0])
        yield "reassign " + " ".join(map(sim.scenario.broker_name, moved))


def _topics(sim: Simulation) -> Iterator[str]:
    """Yield the creation of a topic, and the possible changes of those that exist."""
    topics = sim.cluster.controller.topics
    fresh = next(name for name in _topic_names() if name not in topics)
    yield f"create_topic {fresh} partitions=2 factor={min(2, len(sim.brokers))}"
    for name in [name for name in topics if name != OFFSETS_TOPIC][-3:]:
        yield f"add_partitions {name} count=1"
        yield f"delete_topic {name}"


def _topic_names() -> Iterator[str]:
    yield "orders"
    number = 2
    while True:
        yield f"orders{number}"
        number += 1
