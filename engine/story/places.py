"""Values that a sentence takes from its cue; each is a `Place` of `engine.story.rule`."""

from __future__ import annotations

from typing import Final

from engine.dataplane.directories import name
from engine.model.effects import Cue
from engine.model.messages import CONTROLLER
from engine.model.phrases import Entity
from engine.story.entities import (
    Happening,
    epoch,
    error,
    members,
    node,
    nodes,
    number,
    offset,
    records,
    word,
)

CONTROL: Final = node(CONTROLLER)


def at_node(h: Happening, cue: Cue) -> Entity:
    return node(cue.node)


def about_node(h: Happening, cue: Cue) -> Entity:
    return node(cue.about)


def controller(h: Happening, cue: Cue) -> Entity:
    return CONTROL


def about_word(h: Happening, cue: Cue) -> Entity:
    return word(cue.about)


def partition(h: Happening, cue: Cue) -> Entity:
    return word(h.sim.cluster.names[cue.tp])


def last_offset(h: Happening, cue: Cue) -> Entity:
    return offset(cue.new - 1)


def new_count(h: Happening, cue: Cue) -> Entity:
    return number(len(cue.new))


def new_directory(h: Happening, cue: Cue) -> Entity:
    return word(name(cue.new))


def new_epoch(h: Happening, cue: Cue) -> Entity:
    return epoch(cue.new)


def new_error(h: Happening, cue: Cue) -> Entity:
    return error(cue.new)


def new_members(h: Happening, cue: Cue) -> Entity:
    return members(cue.new)


def new_node(h: Happening, cue: Cue) -> Entity:
    return node(cue.new)


def new_nodes(h: Happening, cue: Cue) -> Entity:
    return nodes(cue.new)


def new_number(h: Happening, cue: Cue) -> Entity:
    return number(cue.new)


def new_offset(h: Happening, cue: Cue) -> Entity:
    return offset(cue.new)


def new_partitions(h: Happening, cue: Cue) -> Entity:
    return word(", ".join(h.sim.cluster.names[tp] for tp in cue.new))


def new_records(h: Happening, cue: Cue) -> Entity:
    return records(cue.new)


def old_directory(h: Happening, cue: Cue) -> Entity:
    return word(name(cue.old))


def old_epoch(h: Happening, cue: Cue) -> Entity:
    return epoch(cue.old)


def old_node(h: Happening, cue: Cue) -> Entity:
    return node(cue.old)


def old_number(h: Happening, cue: Cue) -> Entity:
    return number(cue.old)


def old_offset(h: Happening, cue: Cue) -> Entity:
    return offset(cue.old)


def old_records(h: Happening, cue: Cue) -> Entity:
    return records(cue.old)


def old_word(h: Happening, cue: Cue) -> Entity:
    return word(cue.old)
