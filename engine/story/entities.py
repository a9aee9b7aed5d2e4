"""Sentences: a key of the catalogue and typed entities, never concatenated text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from engine.model import timers
from engine.model.declared import declared
from engine.model.effects import Cue
from engine.model.errors import name_of
from engine.model.messages import CONTROLLER, FIRST_PRODUCER, FIRST_VOTER, Message
from engine.model.phrases import Entity
from engine.model.state import LEADER
from engine.sim.kernel import DELIVERY
from engine.sim.simulation import Simulation
from engine.view.view import node_name
from engine.view.wire import Sentence

MOST_NAMED: Final = 5
"""Records that a sentence names one by one; of more it names the first and the last."""


Leaders = frozenset[tuple[int, int]]
"""(broker, partition) of the replicas that lead in their own eyes."""


def leaders(sim: Simulation) -> Leaders:
    return frozenset(
        (broker.id, tp)
        for broker in sim.brokers.values()
        if broker.process is not None
        for tp, replica in broker.process.replicas.items()
        if replica.role == LEADER
    )


@declared
class Happening:
    """One event in the story: what fired, its cues, what it sent, and the world after.

    led: `leaders` before it, where that is known.
    """

    kind: int
    at: int
    what: Any
    cues: Sequence[Cue]
    sends: Sequence[Message]
    sim: Simulation
    led: Leaders = frozenset()

    def __post_init__(self) -> None:
        if isinstance(self.what, tuple) and self.what[0] == timers.DISK_WRITE:
            self.kind, self.what = DELIVERY, self.what[1]  # takes effect now that it is written

    def cue(self, *rules: str) -> Cue | None:
        """Return the first cue of one of these rules."""
        return next((cue for cue in self.cues if cue.rule in rules), None)

    def sent(self, kind: int, corr: int | None = None) -> Any:
        """Return the first message of this kind that went out (in answer to `corr`), or None."""
        for m in self.sends:
            if m.kind == kind and corr in (None, m.corr):
                return m
        return None

    def delivered(self, kind: int) -> Any:
        """Return the message that arrived, if it is of this kind; else None."""
        arrived = isinstance(self.what, Message) and self.what.kind == kind
        return self.what if arrived else None


def say(key: str, **args: Entity) -> Sentence:
    return {"key": key, "args": args}


def node(number: int) -> Entity:
    """Return a broker, the controller side, one of its voters, or a client."""
    if number >= 0:
        return {"b": number}
    if FIRST_PRODUCER < number < CONTROLLER:
        return {"v": FIRST_VOTER - number + 1}
    return {"k": "K"} if number == CONTROLLER else {"c": node_name(number)}


def from_ends(key: str, **places: str) -> Callable[..., Sentence]:
    """Return the teller of a message that arrives or is sent: of its ends and nothing else.

    `places`: place of the sentence -> "src", "dst" or "controller".
    """

    def tell(*args: Any) -> Sentence:
        m = args[-1]
        ends = {"src": m.src, "dst": m.dst, "controller": CONTROLLER}
        return say(key, **{place: node(ends[end]) for place, end in places.items()})

    return tell


def nodes(ids: Iterable[int]) -> Entity:
    """Return brokers one by one: "broker B and broker C"."""
    found = list(ids)
    return {"b": found[0]} if len(found) == 1 else {"bl": found}


def members(ids: Iterable[int]) -> Entity:
    """Return a set in Kafka's notation: [1, 2]."""
    return {"bs": list(ids)}


def offset(value: int) -> Entity:
    return {"o": int(value)}  # a cue may have a boolean


def epoch(value: int) -> Entity:
    return {"e": value}


def number(value: int) -> Entity:
    return {"n": value}


def word(value: object) -> Entity:
    """Return a name that is the same in every language."""
    return {"s": str(value)}


def records(values: Iterable[str]) -> Entity:
    found = list(values)
    if len(found) == 1:
        return {"m": found[0]}
    return {"ms": found} if len(found) <= MOST_NAMED else word(f"{found[0]} … {found[-1]}")


def error(code: int) -> Entity:
    return {"x": name_of(code)}
