"""What a question is about: the moment before, what happens next, and of whom is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from engine.model.messages import Message
from engine.model.profiles import Profile
from engine.properties.moment import Moment, PartitionMoment, ReplicaMoment

Answer = int | str | tuple[Any, ...]
"""An offset, a broker (-1: nobody), a tuple of brokers or of records, ((epoch, start), ...), or
what a producer is told: ("ack", broker, ...) with those who must have the record, or a word."""

NOBODY: Final = -1


class Asked:
    """One thing asked at one moment.  A wrong rule may look at nothing else: it cannot see what
    comes.

    `what` is the message that arrives, or None; `node` where it arrives or whom a fault strikes.
    """

    __slots__ = ("before", "kind", "node", "profile", "tp", "what", "who")

    def __init__(
        self,
        kind: str,
        tp: int,
        who: int,
        before: Moment,
        profile: Profile,
        node: int,
        what: Message | None,
    ) -> None:
        self.kind = kind
        self.tp = tp
        self.who = who
        self.before = before
        self.profile = profile
        self.node = node
        self.what = what

    @property
    def part(self) -> PartitionMoment:
        return self.before.parts[self.tp]

    @property
    def mine(self) -> ReplicaMoment:
        """The replica that is asked about."""
        return self.part.replicas[self.who]

    @property
    def leader(self) -> ReplicaMoment | None:
        """Whom the controller has leading."""
        return self.part.leader()

    @property
    def alive(self) -> list[ReplicaMoment]:
        """The replicas whose brokers run, in assignment order."""
        return [one for b, one in self.part.replicas.items() if b in self.before.alive]


def in_order(brokers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(brokers)))
