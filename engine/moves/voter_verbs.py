"""The verbs of voters: a timeout ends, and what was lost is sent again, while time stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.model.quorum import Voter
from engine.moves.move_errors import no_voter, refuse, voter
from engine.moves.moves import Args, Words, verb
from engine.sim import pacing, voter_timers
from engine.sim.simulation import Simulation


def _one_voter(words: Words) -> Args:
    return {"voter": words.node(words.named("a voter such as C1"))}


def _unless(reason: str, has: Callable[[Simulation, Voter], bool]) -> Callable[..., str]:
    """Return the refusal of a move on a voter that is down, or where nothing waits."""

    def why_not(sim: Simulation, args: Args) -> str:
        found = voter(sim, args["voter"])
        if found is None:
            return no_voter(sim, args["voter"])
        if not found.alive:
            return refuse(sim, "voter.down", f"restart {found.name}", b=found.id)
        return "" if has(sim, found) else refuse(sim, reason, b=found.id)

    return why_not


@verb(
    "timeout",
    "time",
    "timeout C1",
    "The timeout of a voter ends now: of a fetch, an election, a back-off or a leader's majority.",
    _one_voter,
    _unless("voter.waits", lambda sim, v: voter_timers.has_timeout(v)),
)
def _timeout(sim: Simulation, args: Args) -> Iterator[None]:
    voter_timers.time_out(sim, args["voter"])
    yield
    yield from pacing.pump(sim)


@verb(
    "repeat",
    "time",
    "repeat C1",
    "A voter sends now what a connection has lost, and answers fetches that wait.",
    _one_voter,
    _unless("voter.repeats", lambda sim, v: any(voter_timers.repeating(sim, v))),
)
def _repeat(sim: Simulation, args: Args) -> Iterator[None]:
    voter_timers.repeat(sim, args["voter"])
    yield
    yield from pacing.pump(sim)
