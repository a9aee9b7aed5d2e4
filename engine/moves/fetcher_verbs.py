"""The verb of fetcher threads: what one gets next makes it fail."""

from __future__ import annotations

from collections.abc import Iterator

from engine.model.effects import Effects
from engine.model.state import FOLLOWER
from engine.moves import partitions
from engine.moves.move_errors import not_running, refuse
from engine.moves.moves import Args, Words, verb
from engine.sim import pacing
from engine.sim.kernel import FAILURE
from engine.sim.simulation import Simulation


def _parse(words: Words) -> Args:
    tp = partitions.take(words)
    return {"broker": words.broker(), "tp": tp}


def _why_not(sim: Simulation, args: Args) -> str:
    why = not_running(sim, args["broker"]) or partitions.missing(sim, args["tp"])
    if why:
        return why
    broker = sim.brokers[args["broker"]]
    replica = broker.replicas.get(partitions.number(sim, args["tp"]))
    if replica is None or replica.role != FOLLOWER:
        return refuse(sim, "follows.nobody", b=broker.id)
    return ""


@verb(
    "fetch_error",
    "faults",
    "fetch_error B [p=0]",
    "What a follower fetches next for a partition makes its fetcher fail with an unexpected error.",
    _parse,
    _why_not,
)
def _fetch_error(sim: Simulation, args: Args) -> Iterator[None]:
    broker, tp = sim.brokers[args["broker"]], partitions.number(sim, args["tp"])

    def act(out: Effects) -> None:
        broker.running.spoiled.add(tp)
        out.cue("CP-8.1.spoil", broker.id, "spoiled", None, tp, tp=tp)

    sim.act(FAILURE, broker.id, "fetch_error", act)
    yield
    yield from pacing.pump(sim)
