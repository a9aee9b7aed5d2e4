"""The verbs of consumer groups: join, process, commit, leave, and die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from engine.clients.group_member import GroupMember
from engine.model.effects import Effects
from engine.model.messages import FIRST_CONSUMER
from engine.moves.move_errors import refuse
from engine.moves.moves import Args, WhyNot, Words, verb
from engine.sim import pacing
from engine.sim.kernel import CLIENT
from engine.sim.simulation import Simulation

MEMBER_VERBS: Final = ("join", "process", "commit", "leave", "die")


def _parse(words: Words) -> Args:
    word = words.take("a consumer such as C1")
    client = words.client(word)
    if client is None or client > FIRST_CONSUMER:
        raise words.fail("“{0}” is no consumer.", word[:40])
    return {"client": client}


def _member(sim: Simulation, args: Args) -> GroupMember | None:
    client = sim.clients.get(args["client"])
    return client if isinstance(client, GroupMember) else None


def _why_not(lives: bool, *more: tuple[Callable[[GroupMember], bool], str]) -> WhyNot:
    """Return the guard of a verb: whether the member must be alive, and its other conditions."""

    def why_not(sim: Simulation, args: Args) -> str:
        member = _member(sim, args)
        if member is None:
            return refuse(sim, "no.member")
        if member.alive != lives:
            return refuse(sim, "member.not.alive" if lives else "member.alive")
        return next((refuse(sim, key) for holds, key in more if not holds(member)), "")

    return why_not


def _play(
    what: str, action: Callable[[GroupMember], Callable[[Effects], None]]
) -> Callable[[Simulation, Args], Iterator[None]]:
    def play(sim: Simulation, args: Args) -> Iterator[None]:
        member = _member(sim, args)
        assert member is not None
        sim.act(CLIENT, member.id, what, action(member))
        yield
        yield from pacing.pump(sim)

    return play


verb(
    "join",
    "clients",
    "join C1",
    "A consumer starts and joins its group; the members share the partitions.",
    _parse,
    _why_not(False),
)(_play("join", lambda member: member.start))
verb(
    "process",
    "clients",
    "process C1",
    "The application of a member processes what it has polled.",
    _parse,
    _why_not(True, (lambda member: bool(member.polled), "nothing.polled")),
)(_play("process", lambda member: member.process))
verb(
    "commit",
    "clients",
    "commit C1",
    "A member commits its positions: the coordinator writes them to __consumer_offsets.",
    _parse,
    _why_not(
        True,
        (GroupMember.can_commit, "member.unsettled"),
        (lambda member: bool(member.known_places()), "no.position"),
    ),
)(_play("commit", lambda member: member.commit))
verb(
    "leave",
    "clients",
    "leave C1",
    "A member leaves its group; the others share what it owned.",
    _parse,
    _why_not(True),
)(_play("leave", lambda member: member.leave))
verb(
    "die",
    "clients",
    "die C1",
    "A member crashes; its group waits for the session to time out.",
    _parse,
    _why_not(True),
)(_play("die", lambda member: member.die))
