"""What becomes of log directories, as sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.dataplane.directories import name
from engine.model.effects import Cue
from engine.model.messages import CONTROLLER
from engine.show.entities import Happening, Sentence, node, say, word

CONTROL: Final = node(CONTROLLER)


def _partitions(h: Happening, tps: tuple[int, ...]) -> str:
    return ", ".join(h.sim.cluster.names[tp] for tp in tps)


def _broker(cue: Cue) -> int:
    return int(cue[2].split()[1])


def fails(h: Happening, cue: Cue) -> Sentence:
    return say("fault.disk", b=node(cue[1]), d=word(name(cue[4])))


def halts(h: Happening, cue: Cue) -> Sentence:
    return say("disk.halt", b=node(cue[1]), d=word(name(cue[4])))


def noticed(h: Happening, cue: Cue) -> Sentence:
    return say("disk.event", k=CONTROL, b=node(_broker(cue)))


def offline(h: Happening, cue: Cue) -> Sentence:
    b = node(_broker(cue))
    if not cue[4]:
        return say("disk.offline.none", k=CONTROL, b=b)
    return say("disk.offline", k=CONTROL, b=b, t=word(_partitions(h, cue[4])))


def assigned(h: Happening, cue: Cue) -> Sentence:
    t, d = word(_partitions(h, (cue[3],))), word(name(cue[4]))
    return say("disk.assigned", k=CONTROL, b=node(_broker(cue)), t=t, d=d)


def wiped(h: Happening, cue: Cue) -> Sentence:
    if isinstance(cue[3], int):
        return say("fault.wipe.dir", b=node(cue[1]), d=word(name(cue[3])))
    return say("fault.wipe", b=node(cue[1]))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence]]] = {
    "L-16.halt": halts,
    "CP-8.1.disk": fails,
    "CP-8.1.wipe": wiped,
    "CP-8.4.event": noticed,
    "CP-8.4.offline": offline,
    "CP-8.4.assign": assigned,
}
"""Rules of log directories whose sentence needs more than the node and the two values."""
