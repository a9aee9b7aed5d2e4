"""What the verbs share: names of nodes in sentences, and the commonest refusals."""

from __future__ import annotations

from engine.model.messages import CONTROLLER, FIRST_CONSUMER, FIRST_PRODUCER
from engine.model.state import DOWN, UP
from engine.sim.moves import Args, Words
from engine.sim.simulation import Simulation


def name(sim: Simulation, node: int) -> str:
    """What people call a node in the middle of a sentence."""
    if node == CONTROLLER:
        return "the controller"
    if node <= FIRST_CONSUMER:
        return f"consumer C{FIRST_CONSUMER + 1 - node}"
    if node < CONTROLLER:
        return f"producer P{FIRST_PRODUCER + 1 - node}"
    return f"broker {sim.scenario.broker_name(node)}"


def stranger(sim: Simulation, *nodes: int | None) -> str:
    """Why a link to one of these nodes is none: a client that does not exist (yet), or ""."""
    for node in nodes:
        if node is not None and node < CONTROLLER and node not in sim.clients:
            return f"There is no {name(sim, node)}."
    return ""


def named(sim: Simulation, node: int) -> str:
    """`name` at the beginning of a sentence."""
    text = name(sim, node)
    return text[0].upper() + text[1:]


def not_running(sim: Simulation, broker: int) -> str:
    status = sim.brokers[broker].status
    if status == DOWN:
        return f"{named(sim, broker)} is down; restart it first."
    if status != UP:
        return f"{named(sim, broker)} is {status}, not running."
    return ""


def is_up(sim: Simulation, args: Args) -> str:
    return not_running(sim, args["broker"])


def one_broker(words: Words) -> Args:
    return {"broker": words.broker()}


def nothing(words: Words) -> Args:
    return {}
