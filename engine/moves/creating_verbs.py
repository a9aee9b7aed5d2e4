"""The verbs that make, grow and delete topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.model.errors import (
    INVALID_REPLICA_ASSIGNMENT,
    INVALID_REPLICATION_FACTOR,
    NONE,
    name_of,
)
from engine.model.messages import CONTROLLER
from engine.model.records import Ids
from engine.moves.move_errors import refuse
from engine.moves.moves import Args, Words, verb
from engine.moves.partitions import TOPIC_NAME
from engine.scenarios.parts import MOST_BROKERS, MOST_PARTITIONS, MOST_REPLICAS
from engine.sim import pacing, topics
from engine.sim.kernel import TIMER
from engine.sim.simulation import Simulation
from engine.sim.topics import TopicRequest

_NUMBERS: Final = {
    "partitions": MOST_PARTITIONS,
    "factor": MOST_BROKERS,
    "start": MOST_BROKERS - 1,
    "shift": MOST_BROKERS - 1,
}
_REFUSALS: Final = {
    INVALID_REPLICATION_FACTOR: "placement.few",
    INVALID_REPLICA_ASSIGNMENT: "placement.wrong",
}


def _topic(words: Words) -> str:
    name = words.take("a topic")
    if not TOPIC_NAME.fullmatch(name):
        raise words.fail("“{0}” cannot name a topic.", name[:40])
    return name


def _lists(words: Words) -> tuple[Ids, ...]:
    """Read 1,2 2,3: the replicas of each partition."""
    lists = []
    while words.words and "=" not in words.words[0]:
        ids = tuple(words.broker_of(word) for word in words.words.pop(0).split(","))
        if len(set(ids)) != len(ids):
            raise words.fail("A broker is named twice.")
        lists.append(ids)
    return tuple(lists)


def _wishes(words: Words, args: Args, allowed: tuple[str, ...]) -> None:
    """Read factor=2 placer=zk start=0, in any order."""
    while words.words:
        key, sep, value = words.words.pop(0).partition("=")
        if not sep or key not in allowed:
            raise words.fail("“{0}” is not expected there.", key[:40])
        if key == "placer":
            if value not in topics.PLACERS:
                raise words.fail("A placer is one of {0}.", ", ".join(topics.PLACERS))
            args[key] = value
            continue
        args[key] = words.number(value, _NUMBERS[key])


def _parse_create(words: Words) -> Args:
    args: Args = {"topic": _topic(words), "lists": _lists(words)}
    known = ("partitions", "factor", "placer", "start", "shift")
    _wishes(words, args, () if args["lists"] else known)
    return args


def _requested_topic(sim: Simulation, args: Args) -> TopicRequest:
    brokers = len(topics.usable(sim))
    topic = TopicRequest(args.get("partitions", 1), args.get("factor", min(3, max(1, brokers))))
    topic.placer = args.get("placer", "")
    topic.start, topic.shift = args.get("start", -1), args.get("shift", -1)
    topic.lists = args["lists"]
    return topic


def _why_not_place(sim: Simulation, topic: TopicRequest, factor: int | None = None) -> str:
    if not sim.cluster.controller.alive:
        return refuse(sim, "controller.none", "restart K")
    room = topics.room_left(sim)
    if (len(topic.lists) or topic.partitions) > room:
        return refuse(sim, "partitions.full", n=MOST_PARTITIONS, o=room)
    replicas = sum(map(len, topic.lists)) or topic.partitions * topic.factor
    if replicas > (room := topics.replicas_left(sim)):
        return refuse(sim, "replicas.full", n=MOST_REPLICAS, o=room)
    if topic.partitions == 0:
        return refuse(sim, "partitions.none")
    error = topics.placement_error(sim, topic, factor)
    if error == NONE:
        return ""
    if error in _REFUSALS:
        return refuse(sim, _REFUSALS[error])
    return refuse(sim, "placement.racks", s=name_of(error))


def _why_not_create(sim: Simulation, args: Args) -> str:
    if args["topic"] in sim.cluster.controller.topics:
        return refuse(sim, "topic.exists", s=args["topic"])
    return _why_not_place(sim, _requested_topic(sim, args))


@verb(
    "create_topic",
    "admin",
    "create_topic orders [partitions=2] [factor=3] [placer=zk|striped|textbook] [start=0] "
    "[shift=0] | create_topic orders 1,2 2,3",
    "An operator creates a topic; a placer finds the replicas, or they are listed.",
    _parse_create,
    _why_not_create,
)
def _create(sim: Simulation, args: Args) -> Iterator[None]:
    yield from _make(sim, args["topic"], _requested_topic(sim, args))


def _make(sim: Simulation, topic: str, wanted: TopicRequest) -> Iterator[None]:
    sim.act(TIMER, CONTROLLER, "new partitions", lambda out: topics.create(sim, topic, wanted, out))
    yield
    yield from pacing.pump(sim)


def _parse_add(words: Words) -> Args:
    args: Args = {"topic": _topic(words), "count": 0, "lists": ()}
    first = words.words[0] if words.words else ""
    if first.startswith("count=") or not first:
        count = words.take("count=, or the replicas of a partition,").removeprefix("count=")
        args["count"] = words.number(count, MOST_PARTITIONS)
        _wishes(words, args, ("placer",))
    else:
        args["lists"] = _lists(words)
        args["count"] = len(args["lists"])
    return args


def _more(sim: Simulation, args: Args) -> TopicRequest:
    """2.2.  Add partitions with as many replicas as partition 0; the placement goes on."""
    k = sim.cluster.controller
    tps = k.topics[args["topic"]].tps
    topic = TopicRequest(args["count"], len(k.records[tps[0]].replicas), args.get("placer", ""))
    topic.first = len(tps)
    topic.start = topics.first_index(sim, args["topic"])
    topic.lists = args["lists"]
    return topic


def _why_not_add(sim: Simulation, args: Args) -> str:
    why = _why_not_topic(sim, args)
    if why:
        return why
    topic = _more(sim, args)
    return _why_not_place(sim, topic, topic.factor)


def _why_not_topic(sim: Simulation, args: Args) -> str:
    k = sim.cluster.controller
    name = args["topic"]
    if name not in k.topics:
        names = ", ".join(k.topics) or "none"
        return refuse(sim, "topic.none", s=name, t=names)
    return refuse(sim, "topic.deleting", s=name) if name in k.deletions else ""


@verb(
    "add_partitions",
    "admin",
    "add_partitions t count=2 [placer=zk|striped|textbook] | add_partitions t 2,3",
    "A topic grows; the replicas of what it has stay where they are.",
    _parse_add,
    _why_not_add,
)
def _add(sim: Simulation, args: Args) -> Iterator[None]:
    yield from _make(sim, args["topic"], _more(sim, args))


def _why_not_delete(sim: Simulation, args: Args) -> str:
    if not sim.cluster.controller.alive:
        return refuse(sim, "controller.none", "restart K")
    return _why_not_topic(sim, args)


@verb(
    "delete_topic",
    "admin",
    "delete_topic t",
    "An operator deletes a topic; ZooKeeper's controller waits for dead replicas.",
    lambda words: {"topic": _topic(words)},
    _why_not_delete,
)
def _delete(sim: Simulation, args: Args) -> Iterator[None]:
    sim.act(TIMER, CONTROLLER, "delete topic", lambda out: topics.delete(sim, args["topic"], out))
    yield
    yield from pacing.pump(sim)
