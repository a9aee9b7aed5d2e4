"""A network that splits (control-plane 8.5): some brokers on one side, all nodes else on the other.

The controller and the clients stand with the latter.
"""

from __future__ import annotations

from engine.faults.faults import hear_again
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.state import UP
from engine.sim.kernel import FAILURE
from engine.sim.world import World

Pair = tuple[int, int]


def between(sim: World, inside: tuple[int, ...]) -> list[Pair]:
    """Return the links that a split goes through, as (inside, outside)."""
    others = [broker for broker in sim.brokers if broker not in inside]
    return [(a, b) for a in inside for b in (*others, CONTROLLER, *sim.clients)]


def split(sim: World, inside: tuple[int, ...]) -> None:
    """8.5.  Cut the links between these brokers and all others, in both directions."""

    def action(out: Effects) -> None:
        for a, b in between(sim, inside):
            out.cue("CP-8.5.cut", a, "link", None, (a, b, True))
            sim.network.cut(a, b)

    sim.act(FAILURE, min(inside), "partition", action)


def mend(sim: World, pairs: list[Pair]) -> None:
    """Mend the links, all at once; brokers that reach the controller again fetch its news."""

    def action(out: Effects) -> None:
        for a, b in pairs:
            out.cue("CP-8.5.heal", a, "link", None, (a, b))
            sim.network.heal(a, b)
        for a, b in pairs:
            if b == CONTROLLER and sim.brokers[a].status == UP:
                hear_again(sim, a, out)

    if pairs:
        sim.act(FAILURE, min(a for a, _ in pairs), "partition heals", action)
