"""What the verbs share: names of nodes in sentences, and the commonest refusals."""

from __future__ import annotations

from engine.model.messages import CONTROLLER, FIRST_CONSUMER, FIRST_PRODUCER
from engine.model.state import DOWN, UP
from engine.sim.moves import Args, Words
from engine.sim.simulation import Simulation


def name(sim: Simulation, node: int) -> str:
    if node < CONTROLLER:
        return (
            f"consumer C{FIRST_CONSUMER - node + 1}"
            if node <= FIRST_CONSUMER
            else (f"producer P{FIRST_PRODUCER - node + 1}")
        )
    return "the controller" if node == CONTROLLER else f"broker {sim.scenario.broker_name(node)}"


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
