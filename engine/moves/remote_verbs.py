"""The verb of remote storage: it fails, or works again."""

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
    word = words.take("“down” or “up”")
    if word not in STATES:
        raise words.fail("Remote storage is either down or up.")
    return {"up": word == "up"}


def _why_not(sim: Simulation, args: Args) -> str:
    store = sim.cluster.store
    if store is None:
        return refuse(sim, "no.store")
    if store.up == args["up"]:
        return refuse(sim, "store.up" if store.up else "store.down")
    return ""


@verb(
    "store",
    "faults",
    "store down | store up",
    "Remote storage answers with errors, or works again.",
    _parse,
    _why_not,
)
def _store(sim: Simulation, args: Args) -> Iterator[None]:
    store, up = sim.cluster.store, args["up"]

    def action(out: Effects) -> None:
        assert store is not None
        out.cue("R-2", CONTROLLER, "remote storage", int(store.up), int(up))
        store.up = up

    sim.act(FAILURE, CONTROLLER, f"store {STATES[up]}", action)
    yield
    yield from pacing.pump(sim)
