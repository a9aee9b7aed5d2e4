"""Partition names in moves: a number, or orders-0; without one, the first is meant."""

from __future__ import annotations

import re
from typing import Final

from engine.moves.move_errors import refuse
from engine.moves.moves import Words
from engine.scenarios.parts import MOST_PARTITIONS
from engine.sim.simulation import Simulation

TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,23}")
_NAME: Final = re.compile("_{0,2}" + TOPIC_NAME.pattern + r"-[0-9]{1,3}")
FIRST: Final = 0


def read(words: Words, word: str) -> int | str:
    """Read what stands behind p=."""
    name = word.removeprefix("p=")
    return name if _NAME.fullmatch(name) else words.number(name, MOST_PARTITIONS - 1)


def take(words: Words) -> int | str:
    """Take `p=` off the end of a move."""
    if words.words and words.words[-1].startswith("p="):
        return read(words, words.words.pop())
    return FIRST


def number(sim: Simulation, named: int | str) -> int:
    """Return the number of a partition, or -1."""
    if isinstance(named, str):
        return sim.cluster.number_of(named)
    return named if named < len(sim.cluster.names) else -1


def missing(sim: Simulation, named: int | str) -> str:
    """Return why there is no such partition, or ""."""
    tp, names = number(sim, named), sim.cluster.names
    if tp < 0:
        return refuse(sim, "no.partition", s=str(named), n=len(names))
    if tp not in sim.cluster.controller.records:
        return refuse(sim, "partition.deleted", s=names[tp])
    return ""
