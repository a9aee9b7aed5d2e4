"""Texts that the verbs share: names of nodes in sentences, and reasons against a move."""

from __future__ import annotations

from typing import Any, Final

from engine.model.messages import CONTROLLER, FIRST_CONSUMER, FIRST_PRODUCER, FIRST_VOTER
from engine.model.quorum import Voter
from engine.model.state import DOWN, PAUSED, UP
from engine.moves.moves import Args, Words
from engine.sim.simulation import Simulation


def name(sim: Simulation, node: int) -> str:
    """Return the name of a node in the middle of a sentence."""
    if node == CONTROLLER:
        return "the controller"
    if node <= FIRST_CONSUMER:
        return f"consumer {FIRST_CONSUMER + 1 - node}"
    if node <= FIRST_PRODUCER:
        return f"producer {FIRST_PRODUCER + 1 - node}"
    if node < CONTROLLER:
        return f"voter {label(sim, node)}"
    return f"broker {sim.scenario.broker_name(node)}"


def stranger(sim: Simulation, *nodes: int | None) -> str:
    """Return why a link to a node is none: a client that does not exist (yet), or ""."""
    quorum = sim.cluster.quorum
    for node in nodes:
        if node is None or node >= 0:
            continue
        if node == CONTROLLER:
            if quorum is not None:
                return names_voter(sim)
        elif node not in sim.clients and (quorum is None or node not in quorum.voters):
            return f"There is no {name(sim, node)}."
    return ""


def names_voter(sim: Simulation) -> str:
    """Return that a move has to say which voter it means."""
    return f"The controller is a quorum here; name a voter: {', '.join(sim.scenario.quorum)}."


def no_voter(sim: Simulation, node: int) -> str:
    """Return that a voter does not exist, or that the scenario has none."""
    return f"There is no voter {label(sim, node)}; the scenario says quorum: [C1, C2, C3]."


def voter(sim: Simulation, node: int) -> Voter | None:
    """Return the voter of this node, if there is one."""
    quorum = sim.cluster.quorum
    return None if quorum is None else quorum.voters.get(node)


def named(sim: Simulation, node: int) -> str:
    """Return `name` at the beginning of a sentence."""
    text = name(sim, node)
    return text[0].upper() + text[1:]


REFUSALS: Final[dict[str, str]] = {
    "down": "{b} is down; restart it first.",
    "down.already": "{b} is down already.",
    "frozen": "{b} is paused, not running.",
    "starting": "{b} is starting, not running.",
    "running.already": "{b} is running already.",
    "not.paused": "{b} is not paused.",
    "controller.gone": "There is no active controller already.",
    "controller.none": "There is no active controller.",
    "controller.here": "The controller is active.",
    "voter.down": "{b} is down already.",
    "voter.up": "{b} is running already.",
    "voter.waits": "{b} leads, and under this release nothing ends its wait.",
    "voter.repeats": "{b} has nothing to send again now.",
    "cut.already": "The link is cut already.",
    "not.cut": "The link is not cut.",
    "fetcher.dead": "{b}'s fetcher thread has ended; a restart of the broker begins another.",
    "fetcher.failed": "{b}'s fetcher has given up the partition; a newer leader epoch wakes it.",
    "follows.nobody": "{b} follows no leader now.",
    "auto": "Followers fetch by themselves in this run; “fetching manual” changes that.",
    "nothing.sent": "Nothing is under way from {b} to {d}.",
    "nothing.held": "Nothing of {b} is held.",
    "alive": "{b} is alive and reaches the controller.",
    "not.in.isr": "{b} is not in the ISR.",
    "not.alive": "{b} is not alive for the controller.",
    "leads.already": "{b} leads already.",
    "preferred.leads": "The preferred replica leads already (ELECTION_NOT_NEEDED).",
    "preferred.away": "{b}, the preferred leader, is not alive (PREFERRED_LEADER_NOT_AVAILABLE).",
    "preferred.behind": "{b}, the preferred leader, is not in the ISR yet "
    "(PREFERRED_LEADER_NOT_AVAILABLE).",
    "delete.later": "Clients delete records since Kafka 0.11 (KIP-107).",
    "unclean.later": "An operator asks for unclean elections since Kafka 2.4 (KIP-460); "
    "switch unclean.leader.election.enable on instead.",
    "has.leader": "The partition has a leader (ELECTION_NOT_NEEDED).",
    "nobody.alive": "No replica is alive (ELIGIBLE_LEADERS_NOT_AVAILABLE).",
    "no.leader.to.write": "The partition has no leader to write to; name a broker with “to”.",
    "no.leader.to.read": "The partition has no leader to read from.",
    "no.leader": "The partition has no leader (LEADER_NOT_AVAILABLE).",
    "leads.unknowing": "{b} does not know that it leads (NOT_LEADER_OR_FOLLOWER).",
    "beyond.mark": "Offset {o} lies beyond the high watermark {h} (OFFSET_OUT_OF_RANGE).",
    "not.registered": "{b} is not registered (INVALID_REPLICA_ASSIGNMENT).",
    "no.reassignment": "No reassignment is running (NO_REASSIGNMENT_IN_PROGRESS).",
    "former.not.in.sync": "No former replica is in sync, and unclean elections are off "
    "(INVALID_REPLICA_ASSIGNMENT).",
    "no.consumer": "There is no such consumer.",
    "internal.topic": "Only coordinators write to __consumer_offsets (INVALID_TOPIC_EXCEPTION).",
    "no.store": "This scenario has no remote storage; it says remote.storage.enable.",
    "store.up": "Remote storage works already.",
    "store.down": "Remote storage has failed already.",
    "store.slow": "Remote storage takes that time already.",
    "no.member": "This consumer is in no group.",
    "member.alive": "This member runs already.",
    "member.not.alive": "This member does not run; “join” starts it.",
    "member.unsettled": "This member owns no partition now: it has not joined yet, or joins again.",
    "no.position": "This member does not know where it stands yet; “read” polls.",
    "nothing.polled": "This member has nothing to process; “read” polls.",
    "no.client": "There is no {b}.",
    "nothing.such.sent": "No {s} is under way from {b} to {d}.",
    "held.already": "That is held already; “release” lets it go on to {d}.",
    "nothing.way.held": "Nothing from {b} to {d} is held so.",
    "by.hand": "It waits for a hand: time does not move it.",
    "is.held": "It is held; release it first.",
    "answer.once": "An answer travels once: TCP repeats nothing, and only requests are sent again.",
    "copy.once": "This copy was sent again already.",
    "no.partition": "There is no partition {s}; there are {n}.",
    "partition.deleted": "Partition {s} is deleted (UNKNOWN_TOPIC_OR_PARTITION).",
    "partitions.full": "A run has at most {n} partitions; there is room for {o} more.",
    "partitions.none": "A topic has at least one partition (INVALID_PARTITIONS).",
    "placement.few": "There are too few usable brokers for that many replicas "
    "(INVALID_REPLICATION_FACTOR).",
    "placement.wrong": "These brokers cannot be the replicas (INVALID_REPLICA_ASSIGNMENT).",
    "placement.racks": "Either all brokers name their rack or none does ({s}).",
    "topic.exists": "Topic {s} exists already (TOPIC_ALREADY_EXISTS).",
    "topic.none": "There is no topic {s} (UNKNOWN_TOPIC_OR_PARTITION); there is {t}.",
    "topic.deleting": "Topic {s} is being deleted already.",
    "zookeeper.forgets": "ZooKeeper forgets a broker with its session; "
    "only KRaft keeps registrations.",
    "reassigning": "A reassignment is under way (REASSIGNMENT_IN_PROGRESS).",
    "id.unknown": "{b} is not registered (BROKER_ID_NOT_REGISTERED).",
    "shut.first": "{b} is running; shut it down first.",
    "nobody.takes.over": "No other live broker can take over {s}.",
}
"""Reasons against a move, in English; the catalogues have each as `cannot.<name>`."""


class Refused(str):
    """The sentence, and what it is made of; `cure` is a move after which this reason is gone."""

    __slots__ = ("args", "cure", "key")

    key: str
    args: dict[str, dict[str, Any]]
    cure: str


def refuse(sim: Simulation, key: str, cure: str = "", **args: int | str) -> Refused:
    """Return a reason of REFUSALS; `b` and `d` are nodes, other numbers offsets, texts names."""
    entities: dict[str, dict[str, Any]] = {}
    text = REFUSALS[key]
    for place, value in args.items():
        known = str(value)
        if isinstance(value, str):
            entities[place] = {"s": value}
        elif place in ("b", "d"):
            first = text.startswith("{" + place)
            known = named(sim, value) if first else name(sim, value)
            entities[place] = _entity(sim, value)
        else:
            entities[place] = {"o": value}
        text = text.replace("{" + place + "}", known)
    made = Refused(text)
    made.key, made.args, made.cure = f"cannot.{key}", entities, cure
    return made


def _entity(sim: Simulation, node: int) -> dict[str, Any]:
    if node <= FIRST_PRODUCER:
        return {"c": name(sim, node).split()[-1]}
    if node < CONTROLLER:
        return {"v": FIRST_VOTER - node + 1}
    return {"k": "K"} if node == CONTROLLER else {"b": node}


def label(sim: Simulation, node: int) -> str:
    """Return a node as a move writes it."""
    if FIRST_PRODUCER < node < CONTROLLER:
        return f"C{FIRST_VOTER - node + 1}"
    return "K" if node == CONTROLLER else sim.scenario.broker_name(node)


def not_running(sim: Simulation, broker: int) -> str:
    status = sim.brokers[broker].status
    if status == UP:
        return ""
    who = label(sim, broker)
    if status == DOWN:
        return refuse(sim, "down", f"restart {who}", b=broker)
    if status == PAUSED:
        return refuse(sim, "frozen", f"resume {who}", b=broker)
    return refuse(sim, "starting", "advance 5s", b=broker)


def is_up(sim: Simulation, args: Args) -> str:
    return not_running(sim, args["broker"])


def one_broker(words: Words) -> Args:
    return {"broker": words.broker()}


def nothing(words: Words) -> Args:
    return {}
