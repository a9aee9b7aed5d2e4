"""Sentences about log directories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.dataplane.directories import name
from engine.model.effects import Cue
from engine.model.messages import CONTROLLER
from engine.story.entities import Happening, epoch, node, offset, say, word
from engine.view.wire import Sentence

Teller = Callable[[Happening, Cue], Sentence]

CONTROL: Final = node(CONTROLLER)


def _partitions(h: Happening, tps: tuple[int, ...]) -> str:
    return ", ".join(h.sim.cluster.names[tp] for tp in tps)


def fails(h: Happening, cue: Cue) -> Sentence:
    return say("fault.dir", b=node(cue.node), d=word(name(cue.new)))


def taken_offline(h: Happening, cue: Cue) -> Sentence:
    """Return all replicas of the directory in one sentence."""
    gone = tuple(one.tp for one in h.cues if one.rule == cue.rule)
    return say("log.offline", b=node(cue.node), t=word(_partitions(h, gone)))


def halts(h: Happening, cue: Cue) -> Sentence:
    return say("disk.halt", b=node(cue.node), d=word(name(cue.new)))


def noticed(h: Happening, cue: Cue) -> Sentence:
    return say("disk.event", k=CONTROL, b=node(cue.about))


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


# -- moves between directories ---------------------------------------------------------------------


def _future(key: str) -> Teller:
    """Return {b} broker, {t} partition, {d} and {e} directories, where they are named."""

    def tell(h: Happening, cue: Cue) -> Sentence:
        args = {"b": node(cue.node), "t": word(h.sim.cluster.names[cue.tp])}
        old, new = cue.old, cue.new
        if key in ("future.begin", "future.swap"):
            args |= {"d": word(name(old)), "e": word(name(new))}
        elif key == "future.cancel":
            args["d"] = word(name(old))
        elif key in ("future.ask", "future.remember"):
            args["d"] = word(name(new))
        elif key == "future.copy":
            args |= {"a": offset(old), "o": offset(new)}
        else:
            args["o"] = offset(new) if key == "future.cut" else epoch(old)
        return say(key, **args)

    return tell


def held_back(h: Happening, cue: Cue) -> Sentence:
    return say("future.held", b=node(cue.node))


def nothing_cut(h: Happening, cue: Cue) -> Sentence:
    return say("future.kept", b=node(cue.node))


TELLERS: Final[dict[str, Teller]] = {
    "L-16": taken_offline,
    "L-16.halt": halts,
    "CP-8.1.disk": fails,
    "CP-8.1.wipe": wiped,
    "CP-8.4.event": noticed,
    "CP-8.4.offline": offline,
    "CP-8.4.assign": assigned,
    "D-1": _future("future.begin"),
    "D-1.cancel": _future("future.cancel"),
    "D-1.remember": _future("future.remember"),
    "D-2": _future("future.copy"),
    "D-2.fenced": _future("future.fenced"),
    "D-3": held_back,
    "D-4": _future("future.cut"),
    "D-4.kept": nothing_cut,
    "D-5": _future("future.swap"),
    "D-5.ask": _future("future.ask"),
    "D-6": _future("future.epochs"),
}
"""Rules of log directories whose sentence needs more than the node and the two values."""
