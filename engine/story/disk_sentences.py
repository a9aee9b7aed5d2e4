"""Sentences about log directories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.dataplane.directories import name
from engine.model.effects import Cue
from engine.model.messages import CONTROLLER
from engine.story.entities import Happening, node, say, word
from engine.view.wire import Sentence

Teller = Callable[[Happening, Cue], Sentence]

CONTROL: Final = node(CONTROLLER)


def _partitions(h: Happening, tps: tuple[int, ...]) -> str:
    return ", ".join(h.sim.cluster.names[tp] for tp in tps)


def taken_offline(h: Happening, cue: Cue) -> Sentence:
    """Return all replicas of the directory in one sentence."""
    gone = tuple(one.tp for one in h.cues if one.rule == cue.rule)
    return say("log.offline", b=node(cue.node), t=word(_partitions(h, gone)))


def offline(h: Happening, cue: Cue) -> Sentence:
    b = node(cue.about)
    if not cue.new:
        return say("disk.offline.none", k=CONTROL, b=b)
    return say("disk.offline", k=CONTROL, b=b, t=word(_partitions(h, cue.new)))


def assigned(h: Happening, cue: Cue) -> Sentence:
    t, d = word(_partitions(h, (cue.old,))), word(name(cue.new))
    return say("disk.assigned", k=CONTROL, b=node(cue.about), t=t, d=d)


def wiped(h: Happening, cue: Cue) -> Sentence:
    if isinstance(cue.old, int):
        return say("fault.wipe.dir", b=node(cue.node), d=word(name(cue.old)))
    return say("fault.wipe", b=node(cue.node))


TELLERS: Final[dict[str, Teller]] = {
    "L-16": taken_offline,
    "CP-8.1.wipe": wiped,
    "CP-8.4.offline": offline,
    "CP-8.4.assign": assigned,
}
"""Rules of log directories whose sentence needs more than the node and the two values."""
