"""The verbs of voters and members: timers that fire now, and changes of the voters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.clients.group_member import GroupMember
from engine.controlplane import kraft
from engine.model.effects import Effects
from engine.model.messages import FIRST_CONSUMER, FIRST_VOTER
from engine.model.quorum import Voter
from engine.moves.move_errors import label, no_voter, refuse, voter, why_not_voter_up
from engine.moves.moves import Args, Words, verb
from engine.quorum import voters
from engine.sim import active_controller, member_timers, pacing, voter_timers
from engine.sim.kernel import TIMER
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
        process = voter(sim, args["voter"])
        why = why_not_voter_up(sim, args["voter"])
        if why or process is None:
            return why
        return "" if has(sim, process) else refuse(sim, reason, b=process.id)

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


def _why_not_change(sim: Simulation, args: Args) -> str:
    """Return why the voters cannot change: static, without a controller, or one change too many."""
    node, quorum, k = args["voter"], sim.cluster.quorum, sim.cluster.controller
    if quorum is None or node not in quorum.voters:
        return no_voter(sim, node)
    if not quorum.dynamic:
        return refuse(sim, "voters.static")
    if not k.alive:
        return refuse(sim, "controller.none", "advance 5s")
    return refuse(sim, "voters.pending") if voters.is_pending(quorum.voters[k.voter]) else ""


def _why_not_add(sim: Simulation, args: Args) -> str:
    node, quorum = args["voter"], sim.cluster.quorum
    why = _why_not_change(sim, args)
    if why or quorum is None:
        return why
    leader = quorum.voters[sim.cluster.controller.voter]
    if node in quorum.members(leader.log):
        return refuse(sim, "voters.known", f"remove {label(sim, node)}", b=node)
    if node != leader.id and not voters.has_caught_up(leader, quorum.voters[node]):
        return refuse(sim, "voters.behind", "advance 5s", b=node)
    return ""


def _why_not_remove(sim: Simulation, args: Args) -> str:
    node, quorum = args["voter"], sim.cluster.quorum
    why = _why_not_change(sim, args)
    if why or quorum is None:
        return why
    members = quorum.members(quorum.voters[sim.cluster.controller.voter].log)
    if node not in members:
        return refuse(sim, "voters.unknown", f"add {label(sim, node)}", b=node)
    return refuse(sim, "voters.last", b=node) if len(members) == 1 else ""


def _change(sim: Simulation, node: int, adds: bool) -> None:
    """CP-RAFT-VOTERS.  Append the new set of voters, which counts from there."""
    quorum, k = active_controller.quorum_of(sim), sim.cluster.controller
    members = dict(quorum.members(quorum.voters[k.voter].log))
    if adds:
        members[node] = quorum.voters[node].directory
    else:
        del members[node]
    what = "add" if adds else "remove"

    def action(out: Effects) -> None:
        if node == k.voter and not adds:
            wait = int(sim.configs.values["controller.quorum.request.timeout.ms"])
            quorum.voters[node].removal_ends = out.now + wait
        out.cue(f"CP-RAFT-VOTERS.{what}", k.voter, "voters", node, len(members))
        kraft.append(k, [voters.record(members)], out)

    sim.act(TIMER, k.voter, f"{what} {label(sim, node)}", action)


@verb(
    "add",
    "admin",
    "add C2",
    "A controller becomes a voter of the quorum; it needs kraft.version: 1, as of 3.9.",
    _one_voter,
    _why_not_add,
)
def _add(sim: Simulation, args: Args) -> Iterator[None]:
    _change(sim, args["voter"], adds=True)
    yield
    yield from pacing.pump(sim)


@verb(
    "remove",
    "admin",
    "remove C2",
    "A controller is a voter of the quorum no longer; a leader resigns once that is committed.",
    _one_voter,
    _why_not_remove,
)
def _remove(sim: Simulation, args: Args) -> Iterator[None]:
    _change(sim, args["voter"], adds=False)
    yield
    yield from pacing.pump(sim)
