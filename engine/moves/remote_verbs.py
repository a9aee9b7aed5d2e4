"""The verb of remote storage, `store`: it makes the storage fail, slow down or recover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.moves.move_errors import refuse
from engine.moves.moves import Args, Words, verb
from engine.sim import pacing
from engine.sim.kernel import FAILURE
from engine.sim.simulation import Simulation

STATES: Final = ("down", "up")


def _parse(words: Words) -> Args:
    word = words.take("“down”, “up” or “slow”")
    if word == "slow":
        return {"slow_ms": words.duration()}
    if word not in STATES:
        raise words.fail("Remote storage is down, up or slow.")
    return {"up": word == "up"}


def _why_not(sim: Simulation, args: Args) -> str:
    store = sim.cluster.store
    if store is None:
        return refuse(sim, "no.store")
    if "up" in args and store.up == args["up"]:
        return refuse(sim, "store.up" if store.up else "store.down")
    if "up" not in args and store.slow_ms == args["slow_ms"]:
        return refuse(sim, "store.slow")
    return ""


@verb(
    "store",
    "faults",
    "store down | store up | store slow 2s",
    "Remote storage answers with errors, works again, or takes so long; 0 ends that.",
    _parse,
    _why_not,
)
def _store(sim: Simulation, args: Args) -> Iterator[None]:
    store = sim.cluster.store
    assert store is not None

    def action(out: Effects) -> None:
        if "up" in args:
            out.cue("R-2", CONTROLLER, "remote storage", int(store.up), int(args["up"]))
            store.up = args["up"]
        else:
            out.cue("R-2.slow", CONTROLLER, "remote storage", store.slow_ms, args["slow_ms"])
            store.slow_ms = args["slow_ms"]

    state = STATES[args["up"]] if "up" in args else f"slow {args['slow_ms']}"
    sim.act(FAILURE, CONTROLLER, f"store {state}", action)
    yield
    yield from pacing.pump(sim)
