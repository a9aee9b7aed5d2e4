"""Texts that the verbs share: names of nodes in sentences, and reasons against a move."""

from __future__ import annotations

from typing import Final

from engine.model.languages import USUAL, words_of
from engine.model.messages import CONTROLLER, FIRST_CONSUMER, FIRST_PRODUCER, FIRST_VOTER
from engine.model.phrases import Entity, Phrase, capitalized, phrase
from engine.model.quorum import Voter
from engine.model.state import DOWN, PAUSED, UP
from engine.moves.moves import Args, Words, client_name
from engine.sim.simulation import Simulation


def name(sim: Simulation, node: int) -> str:
    """Return the name of a node in the middle of a sentence."""
    if node == CONTROLLER:
        return "the controller"
    if node <= FIRST_CONSUMER:
        return phrase("consumer {0}", FIRST_CONSUMER + 1 - node)
    if node <= FIRST_PRODUCER:
        return phrase("producer {0}", FIRST_PRODUCER + 1 - node)
    if node < CONTROLLER:
        return phrase("voter {0}", label(sim, node))
    return phrase("broker {0}", sim.scenario.broker_name(node))


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
            return phrase("There is no {0}.", name(sim, node))
    return ""


def names_voter(sim: Simulation) -> str:
    """Return that a move has to say which voter it means."""
    return phrase(
        "The controller is a quorum here; name a voter: {0}.", ", ".join(sim.scenario.quorum)
    )


def no_voter(sim: Simulation, node: int) -> str:
    """Return that a voter does not exist, or that the scenario has none."""
    return phrase(
        "There is no voter {0}; the scenario says quorum: [C1, C2, C3].", label(sim, node)
    )


def voter(sim: Simulation, node: int) -> Voter | None:
    """Return the voter of this node, if there is one."""
    quorum = sim.cluster.quorum
    return None if quorum is None else quorum.voters.get(node)


def named(sim: Simulation, node: int) -> str:
    """Return `name` at the beginning of a sentence."""
    return capitalized(name(sim, node))


_KEY: Final = "cannot."
REFUSALS: Final = {
    key.removeprefix(_KEY): text
    for key, text in words_of("story", USUAL).items()
    if key.startswith(_KEY)
}
"""Reasons against a move, in English."""


class Refused(Phrase):
    """The sentence and its key; `cure` is a move after which this reason is gone."""

    __slots__ = ("args", "cure", "key")

    key: str
    args: dict[str, Entity]
    cure: str


def refuse(sim: Simulation, key: str, cure: str = "", **args: int | str) -> Refused:
    """Return a reason of REFUSALS; `b` and `d` are nodes, other numbers offsets, texts names."""
    entities: dict[str, Entity] = {}
    values: dict[str, str] = {}
    template = REFUSALS[key]
    for place, value in args.items():
        if isinstance(value, str):
            values[place], entities[place] = value, {"s": value}
        elif place in ("b", "d"):
            first = template.startswith("{" + place)
            values[place] = named(sim, value) if first else name(sim, value)
            entities[place] = _entity(sim, value)
        else:
            values[place], entities[place] = str(value), {"o": value}
    made = Refused.of(template, values)
    made.key, made.args, made.cure = f"{_KEY}{key}", entities, cure
    return made


def _entity(sim: Simulation, node: int) -> Entity:
    if node <= FIRST_PRODUCER:
        return {"c": name(sim, node).split()[-1]}
    if node < CONTROLLER:
        return {"v": FIRST_VOTER - node + 1}
    return {"k": "K"} if node == CONTROLLER else {"b": node}


def label(sim: Simulation, node: int) -> str:
    """Return a node as a move writes it."""
    if node <= FIRST_PRODUCER:
        return client_name(node)
    if FIRST_PRODUCER < node < CONTROLLER:
        return f"C{FIRST_VOTER - node + 1}"
    return "K" if node == CONTROLLER else sim.scenario.broker_name(node)


def why_not_voter_up(sim: Simulation, node: int, frozen_too: bool = False) -> str:
    """Return why a voter is not running; "" if it is, or is frozen and may be (`frozen_too`)."""
    process = voter(sim, node)
    if process is None:
        return no_voter(sim, node)
    if not process.alive:
        return refuse(sim, "voter.down", f"restart {process.name}", b=node)
    is_frozen = process.paused and not frozen_too
    return refuse(sim, "frozen", f"resume {process.name}", b=node) if is_frozen else ""


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
