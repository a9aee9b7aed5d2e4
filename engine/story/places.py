"""Values that a sentence takes from its cue; each is a `Place` of `engine.story.rule`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.dataplane.directories import name
from engine.model.effects import Cue
from engine.model.messages import CONTROLLER, NAMES
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
from engine.story.rule import Place

CONTROL: Final = node(CONTROLLER)


def _old(entity: Callable[[Any], Entity]) -> Place:
    return lambda h, cue: entity(cue.old)


def _new(entity: Callable[[Any], Entity]) -> Place:
    return lambda h, cue: entity(cue.new)


def _directory(number: int) -> Entity:
    return word(name(number))


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


def new_partitions(h: Happening, cue: Cue) -> Entity:
    return word(", ".join(h.sim.cluster.names[tp] for tp in cue.new))


def old_partitions(h: Happening, cue: Cue) -> Entity:
    return word(", ".join(h.sim.cluster.names[tp] for tp in cue.old))


def _end(number: int) -> Place:
    """Return an end of a link, whose cue has both ends first in its new value."""
    return lambda h, cue: node(cue.new[number])


def new_delay(h: Happening, cue: Cue) -> Entity:
    return number(cue.new[2])


def new_partition(h: Happening, cue: Cue) -> Entity:
    return word(h.sim.cluster.names[cue.new])


link_end: Final = _end(0)
other_end: Final = _end(1)
new_directory: Final = _new(_directory)
new_epoch: Final = _new(epoch)
new_error: Final = _new(error)
new_members: Final = _new(members)
new_node: Final = _new(node)
new_nodes: Final = _new(nodes)
new_number: Final = _new(number)
new_offset: Final = _new(offset)
new_records: Final = _new(records)
new_word: Final = _new(word)
old_directory: Final = _old(_directory)
old_epoch: Final = _old(epoch)
old_node: Final = _old(node)
old_number: Final = _old(number)
old_offset: Final = _old(offset)
old_records: Final = _old(records)
old_message: Final = _old(lambda kind: word(NAMES[kind]))
old_word: Final = _old(word)
