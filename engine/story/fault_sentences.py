"""Sentences about faults and their repairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model import messages
from engine.model.effects import Cue
from engine.story.entities import Happening, node, number, say, word
from engine.view.wire import Sentence


def cut(h: Happening, cue: Cue) -> Sentence:
    a, b, both = cue.new
    return say("fault.cut" if both else "fault.cut.one", a=node(a), b=node(b))


def zookeeper(h: Happening, cue: Cue) -> Sentence:
    return say("fault.zk.back" if cue.new else "fault.zk", b=node(cue.node))


def slowed(h: Happening, cue: Cue) -> Sentence:
    a, b, ms = cue.new
    if not ms:
        return say("fault.slow.over", a=node(a), b=node(b))
    return say("fault.slow", a=node(a), b=node(b), n=number(ms))


def slow_disk(h: Happening, cue: Cue) -> Sentence:
    rate = cue.new
    if not rate:
        return say("fault.disk.over", b=node(cue.node))
    key = "fault.disk.reads" if cue.field == "reads" else "fault.disk"
    return say(key, b=node(cue.node), n=word(f"{rate:g}"))


def writes(h: Happening, cue: Cue) -> Sentence:
    key = "disk.writes.one" if cue.old == 1 else "disk.writes"
    if cue.rule == "CP-8.6.reads":
        key = "disk.reads.one" if cue.old == 1 else "disk.reads"
    return say(key, b=node(cue.node), n=number(cue.old), w=number(cue.new))


def lossy(h: Happening, cue: Cue) -> Sentence:
    a, b, percent = cue.new
    if not percent:
        return say("fault.lose.over", a=node(a), b=node(b))
    return say("fault.lose", a=node(a), b=node(b), n=word(f"{percent:g}"))


def jumped(h: Happening, cue: Cue) -> Sentence:
    key = "fault.jump" if cue.new >= 0 else "fault.jump.back"
    return say(key, b=node(cue.node), n=number(abs(cue.new)))


def dropped(h: Happening, cue: Cue) -> Sentence:
    kind, (src, dst) = cue.old, cue.new
    name = word(messages.NAMES[kind])
    if kind in messages.REPLIES:
        return say("fault.drop.answer", a=node(src), b=node(dst), t=name)
    return say("fault.drop", a=node(src), b=node(dst), t=name)


def way_held(h: Happening, cue: Cue) -> Sentence:
    src, dst = cue.new
    if not cue.old:
        return say("fault.hold.way", a=node(src), b=node(dst))
    return say("fault.hold.kind", a=node(src), b=node(dst), t=word(messages.NAMES[cue.old]))


def message_held(h: Happening, cue: Cue) -> Sentence:
    return say("fault.hold.metadata" if cue.new else "fault.hold.alter", b=node(cue.node))


def released(h: Happening, cue: Cue) -> Sentence:
    return say("fault.release.metadata" if cue.old else "fault.release.alter", b=node(cue.node))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence]]] = {
    "CP-8.5.cut": cut,
    "CP-8.5.zookeeper": zookeeper,
    "CP-8.5.drop": dropped,
    "CP-8.5.hold": way_held,
    "CP-8.6.slow": slowed,
    "CP-8.6.slow_disk": slow_disk,
    "CP-8.6.writes": writes,
    "CP-8.6.reads": writes,
    "CP-8.6.lose": lossy,
    "CP-8.7.jump": jumped,
    "CP-5.4.hold": message_held,
    "CP-5.4.release": released,
}
"""Rule -> function that returns its sentence."""
