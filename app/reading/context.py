"""A format of pasted text: the command that prints it, and its reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.reading.facts import Facts


@dataclass(frozen=True)
class PastedLine:
    """A line with its number in what was pasted; `text` has no prefix and no blanks around it."""

    number: int
    text: str


@dataclass
class PasteContext:
    """Facts of earlier lines about the next ones.

    They are the broker, folder, topic or ZooKeeper node of a prompt or a header.  `guess`: a broker
    that the name of a host has a number of.
    """

    facts: Facts
    topic: str = ""
    broker: int = -1
    guess: int = -1
    file: str = ""
    partition: str = ""
    znode: str = ""


Read = Callable[[Sequence[PastedLine], int, PasteContext], int]
"""Lines, the index of the first, context -> how many lines were read; 0: another format's."""


@dataclass(frozen=True)
class PasteFormat:
    """One format of pasted text.

    `commands`: the tools that print it, as the page and the docs show it; the sentence of what it
    tells is `cluster.known.<name>`.
    """

    name: str
    commands: tuple[str, ...]
    read: Read
