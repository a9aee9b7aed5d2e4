"""Sentences about consumer groups: joining, generations, commits and where members begin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from engine.model import messages
from engine.model.effects import Cue
from engine.model.phrases import Entity
from engine.story.entities import Happening, error, from_ends, node, number, offset, say, word
from engine.view.wire import Sentence


def _partition(h: Happening, tp: int) -> Entity:
    return word(h.sim.cluster.names[tp])


# -- what follows ----------------------------------------------------------------------------------


def _begins(h: Happening, cue: Cue) -> Sentence:
    key = "group.begins" if cue.new >= 0 else "group.begins.reset"
    return say(key, c=node(cue.node), t=_partition(h, cue.tp), o=offset(cue.new))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence | None]]] = {
    "G-5.begins": _begins,
}
"""Rule -> function that returns its sentence."""


# -- what arrives ----------------------------------------------------------------------------------

_from_member: Final = partial(from_ends, c="src", b="dst")


def _answered(key: str) -> Callable[[Happening, Any], Sentence]:
    """Return the teller of a response; an error has a sentence of its own."""

    def tell(h: Happening, m: Any) -> Sentence:
        if m.error:
            return say("group.error", c=node(m.dst), b=node(m.src), x=error(m.error))
        return say(key, c=node(m.dst), b=node(m.src))

    return tell


def _found(h: Happening, m: Any) -> Sentence:
    if m.error:
        return _answered("")(h, m)
    return say("group.found", c=node(m.dst), b=node(m.src), l=node(m.node))


def _owned(h: Happening, owned: tuple[int, ...]) -> Entity:
    return word(", ".join(h.sim.cluster.names[tp] for tp in owned))


def _joined(h: Happening, m: Any) -> Sentence:
    if m.error:
        return _answered("")(h, m)
    args = {"c": node(m.dst), "n": number(m.generation)}
    if not m.assigned:
        return say("group.joined.idle", **args)
    return say("group.joined", **args, t=_owned(h, m.assigned))


def _epoch_got(h: Happening, m: Any) -> Sentence:
    if m.generation <= 0:
        return _from_member("group.leave.got" if m.generation else "group.join.got")(h, m)
    args = {"b": node(m.dst), "c": node(m.src), "n": number(m.generation)}
    if not m.owned:
        return say("group.epoch.got.idle", **args)
    return say("group.epoch.got", **args, t=_owned(h, m.owned))


def _epoch(h: Happening, m: Any) -> Sentence:
    if m.error or m.generation < 0:
        return _answered("group.left")(h, m)
    args = {"c": node(m.dst), "n": number(m.generation)}
    if not m.assigned:
        return say("group.epoch.idle", **args)
    return say("group.epoch", **args, t=_owned(h, m.assigned))


def _epoch_sent(m: Any) -> Sentence:
    key = "group.beat.ask" if m.generation > 0 else "group.leave" if m.generation else "group.join"
    return _from_member(key)(m)


def _committing(h: Happening, m: Any) -> Sentence:
    offsets = ", ".join(f"{h.sim.cluster.names[tp]}: {at}" for tp, at, _ in m.offsets)
    return say("group.commit.got", b=node(m.dst), c=node(m.src), s=word(offsets))


ARRIVALS: Final[dict[int, Callable[[Happening, Any], Sentence | None]]] = {
    messages.FIND_COORDINATOR: _from_member("group.find.got"),
    messages.FIND_COORDINATOR_R: _found,
    messages.JOIN_GROUP: _from_member("group.join.got"),
    messages.JOIN_GROUP_R: _joined,
    messages.LEAVE_GROUP: _from_member("group.leave.got"),
    messages.LEAVE_GROUP_R: _answered("group.left"),
    messages.GROUP_HEARTBEAT: _from_member("group.beat.got"),
    messages.GROUP_HEARTBEAT_R: _answered("group.beat"),
    messages.CONSUMER_HEARTBEAT: _epoch_got,
    messages.CONSUMER_HEARTBEAT_R: _epoch,
    messages.OFFSET_COMMIT: _committing,
    messages.OFFSET_COMMIT_R: _answered("group.committed"),
    messages.OFFSET_FETCH: _from_member("group.offsets.got"),
    messages.OFFSET_FETCH_R: lambda h, m: _answered("")(h, m) if m.error else None,
}
"""Message kind -> function that returns the sentence of its arrival."""


SENDINGS: Final[dict[int, Callable[[Any], Sentence]]] = {
    messages.FIND_COORDINATOR: _from_member("group.find"),
    messages.JOIN_GROUP: _from_member("group.join"),
    messages.LEAVE_GROUP: _from_member("group.leave"),
    messages.GROUP_HEARTBEAT: _from_member("group.beat.ask"),
    messages.CONSUMER_HEARTBEAT: _epoch_sent,
    messages.OFFSET_COMMIT: _from_member("group.commit"),
    messages.OFFSET_FETCH: _from_member("group.offsets"),
}
"""Message kind -> function that returns the sentence of a send by a timer or a hand."""
