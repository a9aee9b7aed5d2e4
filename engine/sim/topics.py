"""Topics in a run: where their replicas go, and what the observer and the names make of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.controlplane import admin, placement, zk_topics
from engine.controlplane.placement import Candidate, Placed, StripedPlacer
from engine.model import errors
from engine.model.controller import Controller
from engine.model.declared import begins, declared
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import Ids
from engine.scenarios.parts import MOST_PARTITIONS, MOST_REPLICAS
from engine.sim.kernel import Chance
from engine.sim.simulation import Simulation

TEXTBOOK: Final = "textbook"
ZK: Final = "zk"
STRIPED: Final = "striped"
PLACERS: Final = (TEXTBOOK, ZK, STRIPED)


class Fixed:
    """A chance that always says the first: enough to learn whether a placement is possible."""

    def below(self, limit: int) -> int:
        return 0


@declared
class TopicRequest:
    """Partitions that an operator requests; -1 for `start` or `shift`: drawn at random.

    `lists`, if given, are the replicas themselves; else a placer finds them.  `first` is the number
    of partitions the topic has already.
    """

    partitions: int
    factor: int
    placer: str = ""
    start: int = begins(-1)
    shift: int = begins(-1)
    first: int = begins(0)
    lists: tuple[Ids, ...] = begins(())


# -- placing ---------------------------------------------------------------------------------------


def place(
    sim: Simulation, topic: TopicRequest, chance: placement.PlacementChance
) -> tuple[str, Placed]:
    """CP-PLACE-SIMPLE, CP-PLACE-ZK, CP-PLACE-KR.  Return (the rule that placed, what it says).

    A cluster's own placer knows every broker it could use; any other stands for a tool, which
    computes the lists from the live brokers and hands them over.
    """
    if topic.lists:
        return "", (errors.NONE, list(topic.lists))
    own = STRIPED if sim.profile.mode == "kraft" else ZK
    placer = topic.placer or own
    candidates = _candidates(sim, placer == own)
    if placer == STRIPED:
        made = StripedPlacer(candidates, chance).place(topic.partitions, topic.factor)
        return "CP-PLACE-KR", made
    if placer == TEXTBOOK:
        ids = [candidate.id for candidate in candidates]
        error, lists = placement.place_simple(ids, topic.first + topic.partitions, topic.factor)
        return "CP-PLACE-SIMPLE", (error, lists[topic.first :])
    made = placement.place_zk(
        candidates,
        topic.partitions,
        topic.factor,
        chance,
        start=topic.start,
        shift=topic.shift,
        first_partition=topic.first,
    )
    racks = any(candidate.rack is not None for candidate in candidates)
    return "CP-PLACE-ZK-RACK" if racks else "CP-PLACE-ZK", made


def _candidates(sim: Simulation, own: bool) -> list[Candidate]:
    k = sim.cluster.controller
    if sim.profile.mode == "kraft":
        return [one for one in admin.candidates(k) if own or not one.fenced]
    return [Candidate(broker, k.brokers[broker].rack or None) for broker in sorted(k.brokers)]


def usable(sim: Simulation) -> list[int]:
    """Return the brokers that may get new replicas."""
    return [one.id for one in _candidates(sim, True)]


def first_index(sim: Simulation, topic: str) -> int:
    """2.2.  Return where the ZooKeeper era begins to place added partitions."""
    k = sim.cluster.controller
    head = k.records[k.topics[topic].tps[0]].replicas[0]
    later = [index for index, broker in enumerate(sorted(k.brokers)) if broker >= head]
    return later[0] if later else 0


def placement_error(sim: Simulation, topic: TopicRequest, factor: int | None = None) -> int:
    """Return why these partitions cannot be made, or NONE; nothing is drawn."""
    k = sim.cluster.controller
    _, (error, lists) = place(sim, topic, Fixed())
    registered = None if factor is None and sim.profile.mode == "zk" else k.brokers
    error = error or placement.check_manual(lists, registered, factor)
    if error or sim.profile.mode == "zk" or not topic.lists:
        return error
    led = all(any(k.active(broker) for broker in ids) for ids in lists)
    return errors.NONE if led else errors.INVALID_REPLICA_ASSIGNMENT


def room_left(sim: Simulation) -> int:
    """Return how many partitions a run may still make: numbers are never used twice."""
    return MOST_PARTITIONS - len(sim.cluster.names)


def replicas_left(sim: Simulation) -> int:
    """Return how many replicas the cluster has room for; brokers that are down keep theirs."""
    listed = sum(len(record.replicas) for record in sim.cluster.controller.records.values())
    held = sum(len(broker.machine.disks) for broker in sim.brokers.values())
    return MOST_REPLICAS - max(listed, held)


# -- making and deleting ---------------------------------------------------------------------------


def create(sim: Simulation, name: str, topic: TopicRequest, out: Effects) -> None:
    """Create a topic, or more partitions of the one of this name."""
    k = sim.cluster.controller
    rule, (_, lists) = place(sim, topic, _placing_chance(sim))
    if rule:
        out.cue(rule, CONTROLLER, "topic", None, tuple(lists), about=name)
    grows = name in k.topics
    if not grows:
        create_listed(sim, name, lists, out)
    elif sim.profile.mode == "zk":
        zk_topics.create_partitions(k, name, lists, out)
        _name_new_partitions(sim, k, name, len(lists))
    else:
        count = len(k.topics[name].tps) + len(lists)
        admin.create_partitions(k, name, count, lists, out)
        _name_new_partitions(sim, k, name, len(lists))


def create_listed(sim: Simulation, name: str, lists: Sequence[Ids], out: Effects) -> int:
    """Return a new topic whose replicas are listed, by the rules of the run's controller.

    An error code; the observer and the names learn of the partitions that were made.
    """
    k = sim.cluster.controller
    make = zk_topics.create_topic if sim.profile.mode == "zk" else admin.create_manually
    error = make(k, name, lists, out)
    if error == errors.NONE:
        _name_new_partitions(sim, k, name, len(lists))
    return error


def _placing_chance(sim: Simulation) -> Chance:
    if sim.placing is None:
        sim.placing = Chance(sim.seed, "placement")
    return sim.placing


def _name_new_partitions(sim: Simulation, k: Controller, topic: str, count: int) -> None:
    total = len(k.topics[topic].tps)
    for number, tp in list(enumerate(k.topics[topic].tps))[-count:]:
        sim.topics[tp] = (topic, number)
    sim.cluster.names += tuple(f"{topic}-{index}" for index in range(total - count, total))
    sim.checker.grow(count)


def delete(sim: Simulation, name: str, out: Effects) -> None:
    """7.7.  Delete a topic; no broker is missing for its partitions any more."""
    k = sim.cluster.controller
    for tp in k.topics[name].tps:
        sim.ledger.availability(tp, True, True, sim.now)
    out.cue("CP-7.7.delete", CONTROLLER, "topic", None, None, about=name)
    remove = zk_topics.delete_topic if sim.profile.mode == "zk" else admin.delete_topic
    remove(k, name, out)
