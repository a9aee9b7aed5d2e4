"""The verbs of timers of voters and members: each fires now, while time stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.clients.group_member import GroupMember
from engine.model.messages import FIRST_CONSUMER, FIRST_VOTER
from engine.model.quorum import Voter
from engine.moves.move_errors import refuse, voter, why_not_voter_up
from engine.moves.moves import Args, Words, verb
from engine.sim import member_timers, pacing, voter_timers
from engine.sim.simulation import Simulation


def _one_voter(words: Words) -> Args:
    return {"voter": words.node(words.named("a voter or a member such as C1"))}


def _member(sim: Simulation, args: Args) -> GroupMember | None:
    """Return the member of this name in a run without voters."""
    client = sim.clients.get(FIRST_CONSUMER + args["voter"] - FIRST_VOTER)
    return client if sim.cluster.quorum is None and isinstance(client, GroupMember) else None


def _unless(
    reason: str,
    has: Callable[[Simulation, Voter], bool],
    reason_of_member: str,
    member_has: Callable[[Simulation, GroupMember], bool],
) -> Callable[..., str]:
    """Return the refusal of a move on a voter that is down, or where nothing waits."""

    def why_not(sim: Simulation, args: Args) -> str:
        member = _member(sim, args)
        if member is not None:
            return "" if member_has(sim, member) else refuse(sim, reason_of_member)
        found = voter(sim, args["voter"])
        why = why_not_voter_up(sim, args["voter"])
        if why or found is None:
            return why
        return "" if has(sim, found) else refuse(sim, reason, b=found.id)

    return why_not


@verb(
    "timeout",
    "time",
    "timeout C1",
    "A voter's timeout (of a fetch, an election, its majority) or a member's session ends now.",
    _one_voter,
    _unless(
        "voter.waits",
        lambda sim, v: voter_timers.has_timeout(v),
        "no.session",
        lambda sim, member: bool(member_timers.sessions(sim, member)),
    ),
)
def _timeout(sim: Simulation, args: Args) -> Iterator[None]:
    member = _member(sim, args)
    if member is None:
        voter_timers.time_out(sim, args["voter"])
    else:
        member_timers.time_out(sim, member)
    yield
    yield from pacing.pump(sim)


@verb(
    "repeat",
    "time",
    "repeat C1",
    "A voter or member sends now what it repeats: a lost request, a heartbeat, a parked answer.",
    _one_voter,
    _unless(
        "voter.repeats",
        lambda sim, v: any(voter_timers.repeating(sim, v)),
        "member.repeats",
        lambda sim, member: bool(member_timers.repeating(sim, member)),
    ),
)
def _repeat(sim: Simulation, args: Args) -> Iterator[None]:
    member = _member(sim, args)
    if member is None:
        voter_timers.repeat(sim, args["voter"])
    else:
        member_timers.repeat(sim, member)
    yield
    yield from pacing.pump(sim)
