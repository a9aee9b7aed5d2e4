"""Moves on the members of real groups: a client obeys each, and its coordinator takes notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from app.lab.cluster import wait_until
from app.lab.groups import HEARD_WITHIN_S, GroupClient, LabGroups
from engine.model.messages import FIRST_CONSUMER, FIRST_VOTER, LATEST
from engine.moves.moves import Args, Move

if TYPE_CHECKING:
    from app.lab.stage import LabStage

OfMember = Callable[["LabStage", "LabGroups", "GroupClient"], "str | None"]


def member_deed(groups: LabGroups, move: Move) -> Callable[[LabStage, Args], str | None] | None:
    """Return how a move on a member is played; None for any other move."""
    deed = OF_MEMBERS.get(move.verb.name)
    if deed is None:
        return None
    args = move.args
    # “repeat C1” may mean a voter as well, and is parsed as one.
    number = FIRST_VOTER - args["voter"] if "voter" in args else FIRST_CONSUMER - args["client"]
    member = groups.members[f"C{number + 1}"]
    if move.verb.name == "seek":
        where = "latest" if args["timestamp"] == LATEST else "earliest"
        return lambda stage, _: _obey(f"seek {where}")(stage, groups, member)
    return lambda stage, _: deed(stage, groups, member)


def _obey(line: str) -> OfMember:
    """Return a deed that lets a member obey a line to its end, if no other member keeps it."""

    def obey(stage: LabStage, groups: LabGroups, member: GroupClient) -> None:
        member.send(line)
        wait_until(member.is_idle, HEARD_WITHIN_S)

    return obey


def _until_noticed(line: str) -> OfMember:
    """Return a deed that may have to wait for replicas or for other members.

    It is over once the coordinator has written, or describes, something new.
    """

    def obey(stage: LabStage, groups: LabGroups, member: GroupClient) -> None:
        def noticed() -> list[Any]:
            return [groups.group_facts(), [stage.log_ends(p) for p in stage.others.values()]]

        before = noticed()
        member.send(line)
        wait_until(lambda: member.is_idle() or noticed() != before, HEARD_WITHIN_S)

    return obey


def _join(stage: LabStage, groups: LabGroups, member: GroupClient) -> None:
    groups.takes_instance(member.name)
    _until_noticed("join")(stage, groups, member)


def _die(stage: LabStage, groups: LabGroups, member: GroupClient) -> None:
    groups.die(member)


def _repeat(stage: LabStage, groups: LabGroups, member: GroupClient) -> str | None:
    """Let the next heartbeat pass, which Kafka's client sends by itself."""
    if not member.state().get("alive"):
        return "the client does not run"
    groups.hear(member.name)
    return None


OF_MEMBERS: Final[dict[str, OfMember]] = {
    "join": _join,
    "read": _obey("read"),
    "seek": _obey("seek"),
    "process": _obey("process"),
    "commit": _until_noticed("commit"),
    "leave": _obey("leave"),
    "die": _die,
    "repeat": _repeat,
}
