"""Sentences about operators' changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model.configs import is_read_only
from engine.model.effects import Cue
from engine.story.entities import Happening, members, nodes, number, say, word
from engine.view.wire import Sentence


def configured(h: Happening, cue: Cue) -> Sentence:
    if cue.new == "":
        return say("admin.set.empty", c=word(cue.old))
    if cue.field == "cluster config":
        return say("admin.set.cluster", c=word(cue.old), v=word(cue.new))
    key = "admin.set.restart" if is_read_only(cue.old, h.sim.profile) else "admin.set"
    return say(key, c=word(cue.old), v=word(cue.new))


def reassigned(h: Happening, cue: Cue) -> Sentence:
    if cue.new is None:
        return say("admin.reassign.cancel")
    return say("admin.reassign", i=members(cue.old), j=members(cue.new))


def partitions_created(h: Happening, cue: Cue) -> Sentence:
    """Return all partitions made in this event in one sentence."""
    count = sum(c.rule == "CP-ELECT-NEW" for c in h.cues)
    if count == 1:
        return (
            say("topic.made.one", l=nodes([cue.new])) if cue.new >= 0 else say("topic.made.nobody")
        )
    return say("topic.made", n=number(count))


def stray(h: Happening, cue: Cue) -> Sentence:
    """Return all strays of one start in one sentence."""
    found = [one.tp for one in h.cues if one.rule == cue.rule]
    names = ", ".join(h.sim.cluster.names[tp] for tp in found)
    return say("topic.stray", b=nodes([cue.node]), t=word(names))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence]]] = {
    "CP-12": configured,
    "CP-ELECT-NEW": partitions_created,
    "CP-KR-APPLY.stray": stray,
    "CP-REASSIGN": reassigned,
}
"""Rules of operators' doings whose sentence needs more than the node and the two values."""
