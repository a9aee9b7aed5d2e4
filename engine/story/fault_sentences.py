"""Sentences about faults and repairs, log directories, remote storage, operators' changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.dataplane.directories import name
from engine.model import messages
from engine.model.configs import is_read_only
from engine.model.effects import Cue
from engine.model.messages import CONTROLLER
from engine.story.entities import Happening, members, node, nodes, number, offset, say, word
from engine.view.wire import Sentence

CONTROL: Final = node(CONTROLLER)


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


# -- log directories and remote storage ---------------------------------------------------------


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


def store(h: Happening, cue: Cue) -> Sentence:
    return say("tier.store.up" if cue.new else "tier.store.down")


def store_slow(h: Happening, cue: Cue) -> Sentence:
    return say("tier.store.slow", n=number(cue.new)) if cue.new else say("tier.store.slow.over")


def remote_read(h: Happening, cue: Cue) -> Sentence:
    return say("tier.read", b=node(cue.node), c=node(h.what.src), o=offset(cue.old))


# -- operators --------------------------------------------------------------------------------


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
    "L-16": taken_offline,
    "CP-8.1.wipe": wiped,
    "CP-8.4.offline": offline,
    "CP-8.4.assign": assigned,
    "R-2": store,
    "R-2.slow": store_slow,
    "R-6": remote_read,
    "CP-12": configured,
    "CP-ELECT-NEW": partitions_created,
    "CP-KR-APPLY.stray": stray,
    "CP-REASSIGN": reassigned,
}
"""Rule -> function that returns its sentence."""
